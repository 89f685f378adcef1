import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withTempDir } from '../../support/temp-dir.ts';

/** All that is installed here. */
export const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** A folder outside of any package, with the libraries in reach if they are wanted. */
export const withProject = <T>(
  files: Record<string, string>,
  use: (dir: string) => Promise<T>,
  { libraries = false } = {},
): Promise<T> =>
  withTempDir(async (dir) => {
    await writeFiles(dir, files);
    if (libraries) await symlink(PACKAGES, join(dir, 'node_modules'));
    return use(dir);
  });

export async function writeFiles(dir: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
}
