/**
 * L1 A file that was removed, or has another in its place, takes commits as before, and nobody will read them. SQLite
 * does not look: this does, by name, after a commit and before anyone is told of it. The write-ahead log is cut as long
 * as the database is open, and never made anew.
 */
import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';

/** Between two looks; what is acknowledged in between may be lost. */
const LOOK_MS = 1_000;

const NOWHERE = 'nowhere';

/** File systems in user space and of other machines, which may number a file anew at any time (linux/magic.h). */
const RENUMBERS: ReadonlySet<number> = new Set([0x65735546, 0x01021997]);

export interface Placement {
  /** Throws when a file is not where it was. Looks once a second at most. */
  assertKept(): void;
  /** Looks now. */
  isKept(): boolean;
}

/** Call once the database was opened and written to. */
export function openPlacement(file: string, { monotonic }: Pick<Clock, 'monotonic'>): Placement {
  const renumbers = RENUMBERS.has(statfsSync(dirname(resolve(file))).type);
  const identityOf = (path: string): string | undefined => {
    const found = look(path);
    return renumbers && found !== undefined && found !== NOWHERE ? 'somewhere' : found;
  };
  const places = [file, `${file}-wal`].flatMap((name) => {
    const path = resolve(name);
    const was = identityOf(path);
    return was === undefined || was === NOWHERE ? [] : [{ path, was }];
  });
  let looked = -Infinity;

  const lost = (): string | undefined =>
    places.find(({ path, was }) => {
      const is = identityOf(path);
      return is !== undefined && is !== was;
    })?.path;

  return {
    assertKept() {
      if (monotonic() - looked < LOOK_MS) return;
      looked = monotonic();
      const path = lost();
      if (path !== undefined)
        throw new Error(`${path} was removed or replaced while it was open: what is written there is lost`);
    },
    isKept: () => lost() === undefined,
  };
}

/** Undefined for what cannot be looked at, on a disk that fails or below what may not be walked: nobody saw it gone. */
function look(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? NOWHERE : `${found.dev}:${found.ino}`;
  } catch {
    return undefined;
  }
}
