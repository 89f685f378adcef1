/** Executes runs again for clients, beside the graph workers and one at a time. */
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Reexecutions } from '../http/runs/reexecutions.ts';
import { openGate } from '../kernel/gate.ts';
import { executeInChild } from '../past/reexecution/child.ts';

type Settings = Pick<
  Config,
  'configFile' | 'dataDir' | 'encryptionKeys' | 'env' | 'graphs' | 'runTimeoutMs' | 'workers'
>;

export function openReexecutions(
  { configFile, dataDir, encryptionKeys: keys, env, graphs, runTimeoutMs, workers }: Settings,
  stopping: AbortSignal,
): Reexecutions {
  const gate = openGate(1);
  return {
    report: (run, { stub: stubs, ...options }, signal) =>
      gate.enter(() =>
        executeInChild(
          {
            ...{ ...options, store: dataDir, keys, graphs, run, stubs },
            ...{ memoryMb: workers.memoryMb, timeoutMs: runTimeoutMs },
          },
          {
            ...{ folder: dirname(configFile), env: { ...process.env, ...env } },
            signal: AbortSignal.any([signal, stopping]),
          },
        ),
      ),
  };
}
