import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of the files in a folder. */
export async function sizeOf(folder: string): Promise<number> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = files.map(({ name }) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      // The file is gone by now.
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
