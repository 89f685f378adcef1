/** A pool of real worker processes for graphs of a project's `graph.mjs`, and a link that a run needs. */
import { join } from 'node:path';
import type { Frame } from '../../../src/graphs/port.ts';
import { openGraphPool, type GraphPool, type GraphPoolOptions } from '../../../src/workers/pool.ts';
import { createMemoryCheckpoints, type MemoryCheckpoints } from '../../support/memory-checkpoints.ts';
import { NO_STORE, toOrder } from '../graphs/harness.ts';

interface PoolSpec extends Partial<Omit<GraphPoolOptions, 'graphs'>> {
  /** By graph id the name under which the file exports it. */
  readonly graphs: Readonly<Record<string, string>>;
}

export async function withPool(
  dir: string,
  { graphs, ...options }: PoolSpec,
  use: (pool: GraphPool) => Promise<void>,
): Promise<void> {
  const pool = await openGraphPool({
    ...{ workers: 1, memoryMb: 512, loadLimitMs: 30_000, secretPrefix: 'LG_WEBHOOK_', token: 'token' },
    readSource: async () => undefined,
    onFault: () => undefined,
    graphs: Object.entries(graphs).map(([id, exportName]) => ({
      ...{ id, exportName },
      file: join(dir, 'graph.mjs'),
    })),
    ...options,
  });
  try {
    await use(pool);
  } finally {
    await pool.close();
  }
}

export interface PoolRun {
  /** Its first frame has come. */
  readonly begun: Promise<void>;
  readonly checkpoints: MemoryCheckpoints;
  /** Names and data of all frames, in the order of their arrival. */
  readonly frames: readonly (readonly [event: string, data: string])[];
  /** Every time the same run. `resume`: it goes on from what it saved. */
  start(signal?: AbortSignal, resume?: boolean): ReturnType<GraphPool['run']>;
}

export function preparePoolRun(
  pool: GraphPool,
  input: object,
  { threadId = '01970000-0000-7000-8000-000000000000', graphId = 'agent' } = {},
): PoolRun {
  let onBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (onBegun = resolve));
  const checkpoints = createMemoryCheckpoints();
  const frames: (readonly [string, string])[] = [];
  const link = {
    checkpoints,
    store: NO_STORE,
    begun: async () => undefined,
    async emit(shown: readonly Frame[]) {
      frames.push(...shown.map(({ event, data }) => [event, data] as const));
      onBegun();
    },
    record: async () => undefined,
    keep: async () => undefined,
    note: async () => undefined,
  };
  const order = toOrder(threadId, { graphId, input: { ...input } });
  return {
    begun,
    checkpoints,
    frames,
    start: (signal = new AbortController().signal, resume = false) =>
      pool.run({ ...order, resume }, link, signal),
  };
}
