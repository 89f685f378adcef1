/** Exported files as logs: each is imported into a folder of its own that goes at the end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importIntoLog } from '../archive/into-log.ts';
import type { Clock } from '../kernel/clock.ts';
import { PRODUCT } from '../kernel/product.ts';
import { storeAt, type Store } from '../open-store.ts';

/** Lends the stores of the files, in their order. Throws `ExportRefused` for a file that is damaged or none. */
export async function withImported<T>(
  files: readonly string[],
  clock: Clock,
  onFault: (error: unknown) => void,
  use: (stores: readonly Store[]) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), `${PRODUCT}-`));
  try {
    const stores: Store[] = [];
    for (const [index, file] of files.entries()) {
      const store = storeAt(join(scratch, String(index)));
      const openLog = () => store.openLog({ clock, onFault, onWarning: onFault });
      await importIntoLog(file, { clock, newIds: false, openLog });
      stores.push(store);
    }
    return await use(stores);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
