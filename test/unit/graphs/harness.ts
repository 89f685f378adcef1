import { systemClock } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { roleOf, type GraphFunction } from '../../../src/graphs/graph-function.ts';
import type { CompiledGraph } from '../../../src/graphs/graph-shapes.ts';
import { openInProcessGraphs } from '../../../src/graphs/in-process.ts';
import { refuseUnmatched } from '../../../src/graphs/strict-resume.ts';
import { withValues } from '../../../src/workers/packing.ts';
import type { LoadedGraph } from '../../../src/graphs/loader.ts';
import type { Frame, GraphState, RunEnd, RunOrder, StateOrder } from '../../../src/graphs/port.ts';
import type { Origin } from '../../../src/thread/origin.ts';
import type { StorePort } from '../../../src/graphs/store-port.ts';
import type { CallRecord } from '../../../src/thread/call-record.ts';
import { createMemoryCheckpoints, type MemoryCheckpoints } from '../../support/memory-checkpoints.ts';

interface ShownFrame {
  readonly event: string;
  readonly data: Json;
}

interface Ran {
  /** Without the origin of a failure. */
  readonly end: RunEnd;
  readonly origin: Origin | undefined;
  readonly frames: ShownFrame[];
  /** The data of the frames with this event name. */
  /** Prints and calls. */
  readonly noted: readonly CallRecord[];
  of(event: string): Json[];
}

export interface Bench {
  readonly checkpoints: MemoryCheckpoints;
  run(
    order?: Partial<RunOrder>,
    given?: { signal?: AbortSignal; emit?: (frames: readonly Frame[]) => Promise<void> },
  ): Promise<Ran>;
  state(order?: Partial<StateOrder>): Promise<GraphState<Json>>;
  /** The same thread and graphs, as another process with nothing in memory would have them. */
  restart(): Bench;
}

type Failed = { readonly origin?: Origin };

const clock = systemClock();
export const ids = randomIds(clock);

/** A compiled graph or a function as the loader would hand it over. */
export function asLoaded(graph: unknown, graphId = 'agent'): LoadedGraph {
  const file = import.meta.filename;
  if (typeof graph !== 'function')
    return { graphId, file, exportName: 'graph', source: { kind: 'graph', graph: graph as CompiledGraph } };
  const fn = graph as GraphFunction;
  return { graphId, file, exportName: 'graph', source: { kind: roleOf(fn), fn } };
}

export const openBench = (graph: unknown, checkpoints = createMemoryCheckpoints()): Bench =>
  openLoaded(asLoaded(graph), checkpoints);

/** One thread and one graph. Orders ask for the mode `values` unless they say otherwise. */
export function openLoaded(graph: LoadedGraph, checkpoints = createMemoryCheckpoints()): Bench {
  const host = openInProcessGraphs({ graphs: [graph], ids, clock });
  const { run: runOrder } = refuseUnmatched(host);
  const threadId = ids.uuid();
  return {
    checkpoints,
    async run(order = {}, { signal = new AbortController().signal, emit } = {}) {
      const frames: ShownFrame[] = [];
      const noted: CallRecord[] = [];
      const link = {
        checkpoints,
        store: NO_STORE,
        begun: async () => undefined,
        record: async () => undefined,
        keep: async () => undefined,
        note: async (records: string) => void noted.push(...(JSON.parse(records) as CallRecord[])),
        emit: async (batch: readonly Frame[]) => {
          await emit?.(batch);
          for (const { event, data } of batch) frames.push({ event, data: JSON.parse(data) as Json });
        },
      };
      const { origin, ...end } = (await runOrder(toOrder(threadId, order), link, signal)) as Failed & RunEnd;
      return {
        end: end as RunEnd,
        origin,
        frames,
        noted,
        of: (event) => frames.filter((f) => f.event === event).map((f) => f.data),
      };
    },
    async state(order = {}) {
      const asked = { graphId: 'agent', threadId, subgraphs: false, config: toConfig(), ...order };
      return withValues(await host.state(asked, checkpoints), (values) => values.parse());
    },
    restart: () => openLoaded(graph, checkpoints),
  };
}

export const NO_STORE: StorePort = {
  batch: async () => {
    throw new Error('the bench has no store');
  },
};

const toConfig = (): RunOrder['config'] => ({ configurable: {}, metadata: {} });

export function toOrder(threadId: string, order: Partial<RunOrder>): RunOrder {
  return {
    runId: ids.uuid(),
    threadId,
    assistantId: '5f0c9a54-5f3e-5d3b-9a0e-6b1d4f2f7c11',
    graphId: 'agent',
    attempt: 1,
    resume: false,
    input: null,
    config: toConfig(),
    streamModes: ['values'],
    streamSubgraphs: false,
    ...order,
  };
}

export const human = (content: string, id?: string): JsonObject => ({
  role: 'user',
  content,
  ...(id === undefined ? {} : { id }),
});

/** A promise and the means to settle it from outside. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

export const contents = (values: Json): Json[] =>
  ((values as JsonObject)['messages'] as JsonObject[]).map((message) => message['content'] ?? null);
