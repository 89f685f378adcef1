/** Writes an exported thread into a file of its own. */
import { existsSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { toWriteFailure } from '../store/port/disk.ts';

/** Nothing was written. */
class FileRefused extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'FileRefused';
  }
}

/**
 * The file is its owner's alone (0600), and appears whole or not at all. Returns its size in bytes. Throws `FileRefused`
 * when it cannot be made, or exists and may not be replaced, and `DiskFailed` when the disk does not take it.
 */
export async function writeFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  { replace }: { readonly replace: boolean },
): Promise<number> {
  const isThere = existsSync(path);
  if (isThere && statSync(path).isDirectory()) throw new FileRefused(`${path} is a folder: name a file`);
  if (!replace && isThere)
    throw new FileRefused(`${path} exists already: name another file, or replace it with --force`);
  const part = `${path}.${process.pid}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: Error) => {
    const failure = toWriteFailure(path, error);
    if (failure !== error) throw failure;
    throw new FileRefused(`${path} cannot be written: ${error.message}`, { cause: error });
  });
  try {
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        await file.writeFile(chunk);
        bytes += chunk.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
    return bytes;
  } catch (error) {
    await rm(part, { force: true });
    throw toWriteFailure(path, error);
  }
}
