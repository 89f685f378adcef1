/** A file system of a few megabytes, which a test fills up. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Why no file system can be mounted here; undefined when one can. */
export const mountLacking = (): string | undefined =>
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
    ? undefined
    : 'no file system can be mounted here';

export interface SmallDisk {
  /** Leaves no block free. */
  fill(): void;
  /** Frees what `fill` took. */
  free(): void;
}

export async function withSmallDisk(
  dir: string,
  megabytes: number,
  use: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', dir]);
  if (status !== 0) throw new Error(`mount: ${String(stderr)}`);
  const filler = join(dir, 'filler');
  try {
    await use({ fill: () => fill(filler), free: () => rmSync(filler) });
  } finally {
    spawnSync('umount', ['-l', dir]);
  }
}

function fill(filler: string): void {
  const block = Buffer.alloc(4_096);
  const fd = openSync(filler, 'a');
  try {
    for (;;) writeSync(fd, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}
