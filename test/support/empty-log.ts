/** The log of a server that has never run, laid into data directories: making its tables takes half of a server's start. */
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { RESERVE_FILE } from '../../src/store/sqlite/files/room.ts';
import { storeAt } from '../../src/open-store.ts';

let made: Promise<string> | undefined;

/** Makes the directory and lays an empty log into it, made once in this process by the server's own code. */
export async function layEmptyLog(dir: string): Promise<void> {
  const from = await (made ??= makeEmptyLog());
  mkdirSync(dir, { mode: 0o700 });
  copyFileSync(join(from, LOG_FILE), join(dir, LOG_FILE));
  // The server only ever removes it: the file itself is never written to again.
  linkSync(join(from, RESERVE_FILE), join(dir, RESERVE_FILE));
}

async function makeEmptyLog(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'rewound-empty-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const faults: unknown[] = [];
  const log = await storeAt(dir).openLog({ clock: systemClock(), onFault: (error) => faults.push(error) });
  await log.close();
  if (faults.length > 0) throw new Error(`the empty log has ${faults.length} faults`, { cause: faults[0] });
  return dir;
}
