/**
 * Who has a data directory, in a file beside its lock. That lock is the whole process's, and the system drops it as soon
 * as anything in the process opens the locked file and closes it, as a graph that searches or copies the directory does.
 *
 * A note counts while the very process that wrote it lives, and in the very directory it was written for: a process
 * that was killed, another one with its number (after a boot, in another container, later) and a copy of the directory
 * keep nobody out. So nothing is synced. Where the system tells nothing of its processes there is no note.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the flags of a process: it ends, and holds no lock any more or soon. */
const PF_EXITING = 0x4;

const noteOf = (dir: string): string => join(dir, 'lock.db-owner');

/** Number of another process that has noted itself and lives; undefined when there is none. */
export function ownerOf(dir: string): number | undefined {
  const note = readNote(dir);
  const pid = /^[1-9]\d* /.exec(note ?? '')?.[0].trim();
  const isOther = pid !== undefined && note !== describe('self', dir) && note === describe(pid, dir);
  return isOther ? Number(pid) : undefined;
}

export const isOwned = (dir: string): boolean => ownerOf(dir) !== undefined;

/** Notes this process; the returned function takes that back. Call under the lock. */
export function noteOwner(dir: string): () => void {
  // Not the number the process knows itself by: what is mounted as /proc may count from elsewhere.
  const note = describe('self', dir);
  if (note === undefined) return () => undefined;
  writeFileSync(noteOf(dir), note, { mode: 0o600 });
  return () => {
    // Not that of a server that was let into a directory made anew.
    if (readNote(dir) !== note) return;
    try {
      rmSync(noteOf(dir), { force: true });
    } catch {
      // The end of the process does the same.
    }
  };
}

function readNote(dir: string): string | undefined {
  try {
    return readFileSync(noteOf(dir), 'latin1');
  } catch {
    return undefined;
  }
}

/** Undefined when the process does not live, or nothing can be known of it. */
function describe(pid: string, dir: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before them may hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, flags, started] = [fields[0]!, Number(fields[6]), fields[19]];
    // One that its parent has not asked about yet is still listed.
    if (started === undefined || 'ZXx'.includes(state) || (flags & PF_EXITING) !== 0) return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const { dev, ino } = statSync(dir, { bigint: true });
    return `${Number.parseInt(stat, 10)} ${started} ${boot} ${dev}:${ino}\n`;
  } catch {
    return undefined;
  }
}
