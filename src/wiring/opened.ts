/** Opens exported files beside the server's log, each as a log of its own that is only read. */
import { mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { importIntoLog } from '../archive/into-log.ts';
import { SERVED_HISTORY, type HistoryLimits } from '../archive/limits.ts';
import { createApp } from '../http/app.ts';
import { createOpenedFiles, type OpenedFiles, type OpenedLog } from '../http/studio/opened-files.ts';
import { readOnly } from '../http/replies.ts';
import { MAX_UNPACKED_BYTES } from '../http/threads/spool.ts';
import { PRODUCT } from '../kernel/product.ts';
import { storeAt } from '../open-store.ts';
import { openStreams } from '../streams/open-streams.ts';
import { openRecordedGraphs } from '../workers/recorded-graphs.ts';
import type { Assembly } from './assembly.ts';
import { createContext } from './server-context.ts';
import { openLog, openWritePaths } from './write-paths.ts';

const HISTORY: HistoryLimits = {
  ...SERVED_HISTORY,
  wayOut: `a server that runs opens no more; use "${PRODUCT} open FILE"`,
};

/** An opened file opens no others. */
const NONE: OpenedFiles = {
  open: async () => {
    throw readOnly();
  },
  find: () => undefined,
  close: async () => undefined,
};

/** Files that an earlier process left there are removed. */
export function openOpenedFiles(assembly: Assembly, stopping: AbortSignal): OpenedFiles {
  const { clock, ids, options } = assembly;
  const folder = join(assembly.config.dataDir, 'opened');
  rmSync(folder, { recursive: true, force: true });
  const files = createOpenedFiles({
    ...{ clock, newId: ids.uuid, onFault: options.onFault },
    async openLog(path, openedId) {
      const dir = join(folder, openedId);
      try {
        return await openFile(path, dir, assembly, stopping);
      } catch (error) {
        await rm(dir, { recursive: true, force: true });
        throw error;
      }
    },
  });
  assembly.stops.push(() => files.close());
  return files;
}

async function openFile(
  path: string,
  dir: string,
  assembly: Assembly,
  stopping: AbortSignal,
): Promise<OpenedLog> {
  const { clock, ids, config: served, options } = assembly;
  const { onFault } = options;
  const onWarning = (text: string): void => onFault(new Error(text), 'opening a file');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const imported = await importIntoLog(path, {
    ...{ clock, newIds: false, file: { name: 'the file', maxBytes: MAX_UNPACKED_BYTES }, history: HISTORY },
    openLog: () =>
      storeAt(dir, served.encryptionKeys).openLog({
        clock,
        onFault: (error) => onFault(error, 'opening a file'),
        onWarning,
      }),
  });
  if (!imported.ok) throw new Error('an empty log has refused a thread');
  const own: Assembly = {
    ...assembly,
    ...{ handler: undefined, custom: undefined, embedTexts: undefined, stops: [], warnings: [] },
    graphs: openRecordedGraphs(imported.graphs, ids),
    config: {
      ...served,
      ...{
        dataDir: dir,
        databaseUrl: undefined,
        isReadOnly: true,
        graphs: [],
        unserved: [],
        apiKeys: undefined,
        studioKeys: undefined,
      },
      http: { ...served.http, mountPrefix: '', disabled: new Set(['studio'] as const) },
    },
    options: { onFault, onWarning, onPoisoned: (cause) => onFault(new Error(cause), 'an opened file') },
  };
  const log = await openLog(own);
  const streams = openStreams(log, clock);
  own.stops.push(() => streams.hub.close());
  const context = createContext(own, openWritePaths(own, log), streams, {
    ...{ urlPolicy: undefined, connections: async () => 0, stopping, opened: NONE },
  });
  const app = createApp(context);
  return {
    threadId: imported.threadId,
    answer: (request, bindings) => app.fetch(request, bindings),
    async close() {
      for (const stop of own.stops.reverse()) await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
