/** Executes runs again for clients, beside the graph workers and one at a time. */
import { dirname } from 'node:path';
import { logAddressOf, type Config } from '../config/config.ts';
import type { Reexecutions } from '../http/runs/reexecutions.ts';
import { openGate } from '../kernel/gate.ts';
import { executeInChild } from '../past/reexecution/child.ts';

type Settings = Pick<
  Config,
  'configFile' | 'databaseUrl' | 'dataDir' | 'encryptionKeys' | 'env' | 'graphs' | 'runTimeoutMs' | 'workers'
>;

export function openReexecutions(
  { configFile, encryptionKeys: keys, env, graphs, runTimeoutMs, workers, ...place }: Settings,
  stopping: AbortSignal,
): Reexecutions {
  const gate = openGate(1);
  return {
    report: (run, { stub: stubs, ...options }, signal) =>
      gate.enter(() =>
        executeInChild(
          {
            ...{ ...options, store: logAddressOf(place), keys, graphs, run, stubs },
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
