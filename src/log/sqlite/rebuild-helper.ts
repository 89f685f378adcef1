/** Starts the thread that helps to make rows anew: see rebuild-windows.ts for how the work is shared. */
import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { startWorker } from '../../kernel/worker.ts';
import { createCounters, stopHelping } from './rebuild-windows.ts';

export interface HelpOptions {
  readonly file: string;
  /** Address of the module whose `projection` it uses, if that has the version that is asked for. */
  readonly projectionModule: string;
  /** Hears why the thread died; the rows do not need it. */
  readonly onFault: (error: unknown) => void;
}

/** What the thread is told. */
export interface HelperSetup extends Omit<HelpOptions, 'onFault'> {
  readonly version: string;
  /** Of windows. */
  readonly count: number;
  readonly counters: Int32Array;
  readonly port: MessagePort;
}

export interface RebuildHelper {
  readonly counters: Int32Array;
  readonly port: MessagePort;
  close(): void;
}

/** Undefined where threads would only take turns. */
export function startRebuildHelper({
  onFault,
  ...asked
}: HelpOptions & Pick<HelperSetup, 'version' | 'count'>): RebuildHelper | undefined {
  if (availableParallelism() < 2) return undefined;
  const counters = createCounters();
  const { port1, port2 } = new MessageChannel();
  const data: HelperSetup = { ...asked, counters, port: port2 };
  const worker = startWorker('log/sqlite/rebuild-entry', data, [port2]);
  worker.unref();
  worker.on('error', onFault);
  return {
    counters,
    port: port1,
    close() {
      stopHelping(counters);
      port1.close();
      void worker.terminate();
    },
  };
}
