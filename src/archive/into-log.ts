/** Imports a file into a log that no server has open. */
import { eraseImports } from '../actors/broken-imports.ts';
import { createThreads } from '../actors/threads.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomIds } from '../kernel/ids.ts';
import type { OnProgress } from '../kernel/progress.ts';
import type { EventLog } from '../store/port/log.ts';
import type { ContainerOptions } from './container.ts';
import { importThread, type Imported } from './import.ts';
import { inspect } from './inspect.ts';
import { STOPPED_HISTORY, type HistoryLimits } from './limits.ts';
import { KEEP_IDS, newIds } from './new-ids.ts';
import { openExport } from './read.ts';

export interface IntoLogOptions {
  readonly clock: Clock;
  /** The thread and its runs get new ids. */
  readonly newIds: boolean;
  /** Opened after the file has been checked, closed at the end. */
  readonly openLog: () => Promise<EventLog>;
  readonly onProgress?: OnProgress;
  readonly file?: ContainerOptions;
  readonly history?: HistoryLimits;
}

/** `fileId`: the thread's id in the file. `graphs`: those of its runs. */
export type IntoLog = Imported & { readonly fileId: string; readonly graphs: readonly string[] };

/** Throws `ExportRefused` before the log is opened, and what `openLog` rejects with. */
export async function importIntoLog(
  path: string,
  { clock, newIds: hasNewIds, openLog, onProgress, file: options, history = STOPPED_HISTORY }: IntoLogOptions,
): Promise<IntoLog> {
  const file = await openExport(path, options);
  try {
    const inspected = await inspect(file, history, (done) =>
      onProgress?.({ phase: 'checking', done, unit: 'bytes' }),
    );
    const log = await openLog();
    try {
      const ids = randomIds(clock);
      // No event of an import owes a webhook.
      const threads = createThreads({ log, clock, ids, webhooks: { enabled: false, render: () => '' } });
      await eraseImports(log, ids);
      const { metadata, ttl } = inspected.state;
      const rename = hasNewIds ? newIds(inspected, ids.uuid) : KEEP_IDS;
      const how = { rename, metadata, ttl, onProgress };
      const imported = await importThread({ log, threads, ids }, file, inspected, how);
      return { ...imported, fileId: inspected.threadId, graphs: inspected.header.graphs };
    } finally {
      await log.close();
    }
  } finally {
    await file.close();
  }
}
