/** What a graph worker does for the server: runs and questions, each with the calls back that it needs. */
import { toErrorEnd } from '../failure.ts';
import { openGate } from '../../kernel/gate.ts';
import type { InProcessGraphs } from '../in-process.ts';
import type { CheckpointReader, CheckpointStore, RunLink, RunOrder, StopReason } from '../port.ts';
import type { GraphDescriber } from '../schema-port.ts';
import type { Guard } from './guard.ts';
import { withValues } from './state-values.ts';
import type { JobWrite, KnownHead, ServerSide, WorkerSide } from './sides.ts';

/** Back-pressure: after this much the server's answer is waited for. */
const MOST_UNHEARD = 16;
const MOST_CHARACTERS = 131_072;

/** Questions and changes of the store under way: graph code may ask for ten thousand items in one breath. */
const MOST_ASKED = 32;

export interface WorkerHostOptions {
  readonly host: InProcessGraphs;
  readonly describer: GraphDescriber;
  readonly server: ServerSide;
  readonly guard: Guard;
  readonly onBase: (url: string) => void;
  /** Whether a run that was offered is this worker's to begin. */
  readonly take: (job: number) => boolean;
}

export function createWorkerHost(options: WorkerHostOptions): WorkerSide {
  const { host, describer, server, guard, onBase, take } = options;
  /** By the job. */
  const stops = new Map<number, (reason: StopReason) => void>();

  const readerOf = (job: number): CheckpointReader => ({
    load: (ns, checkpointId) => server.load(job, ns, checkpointId),
    list: (query) => server.list(job, query),
  });

  function linkOf(job: number, { durability, attempt }: RunOrder, known: KnownHead | undefined): RunLink {
    let head = known;
    const asked = openGate(MOST_ASKED);
    let unheard = { writes: 0, characters: 0 };
    /** Most writes want no answer: the server takes them in order, the end of the run after all of them. */
    const write = async (given: JobWrite, characters: number): Promise<void> => {
      if (given.kind !== 'frames') head = undefined;
      unheard = { writes: unheard.writes + 1, characters: unheard.characters + characters };
      const isRoom = unheard.writes < MOST_UNHEARD && unheard.characters < MOST_CHARACTERS;
      if (durability !== 'sync' && isRoom) return server.pass(job, given);
      unheard = { writes: 0, characters: 0 };
      return server.write(job, given);
    };
    const checkpoints: CheckpointStore = {
      load(ns, checkpointId) {
        const found = ns === '' && checkpointId === undefined ? head : undefined;
        if (found === undefined) return server.load(job, ns, checkpointId);
        // Once: whoever asks again may change what he was given, or wants to know of what was saved since.
        head = undefined;
        return Promise.resolve(found.head);
      },
      list: (query) => server.list(job, query),
      save: (checkpoint) =>
        write({ kind: 'checkpoint', checkpoint }, checkpoint.body.length + sizeOf(checkpoint.blobs)),
      saveWrites: (ns, checkpointId, writes) =>
        write({ kind: 'writes', ns, checkpointId, writes }, sizeOf(writes)),
    };
    return {
      checkpoints,
      store: { batch: (requests) => asked.enter(() => server.batch(job, requests)) },
      begun: async () => {
        if (attempt > 1) await server.begun(job);
      },
      emit: (frames) => write({ kind: 'frames', frames }, sizeOf(frames)),
    };
  }

  /** Graph code runs for questions as well, and is known by them. */
  const answer = <T>(
    job: number,
    { graphId }: { readonly graphId: string },
    work: () => Promise<T>,
  ): Promise<T> =>
    guard.inside({ job, title: `a question about graph "${graphId}"`, fail: () => undefined }, work);

  return {
    async run(job, order, isOffered, known) {
      if (isOffered && !take(job)) return { kind: 'stopped' };
      const stop = new AbortController();
      let asked = false;
      let stray: { readonly thrown: unknown } | undefined;
      const guarded = {
        job,
        title: `run ${order.runId} of graph "${order.graphId}"`,
        fail(thrown: unknown) {
          if (asked || stray !== undefined) return;
          stray = { thrown };
          // What is left of the run hears it as it would hear of a cancellation, and nobody waits for it.
          stop.abort('fenced' satisfies StopReason);
        },
      };
      return guard.inside(guarded, async () => {
        stops.set(job, (reason) => {
          asked = true;
          guard.inside(guarded, () => stop.abort(reason));
        });
        try {
          let working = false;
          let told = false;
          const end = await host.run(order, linkOf(job, order, known), stop.signal, (work) => {
            working = true;
            const onSettled = (): void => {
              working = false;
              if (told) server.leftover(-1);
            };
            work.then(onSettled, onSettled);
          });
          told = working;
          if (told) server.leftover(1);
          return stray === undefined || asked ? end : toErrorEnd(stray.thrown);
        } finally {
          asked = true;
          stops.delete(job);
        }
      });
    },
    async state(job, order) {
      const state = await answer(job, order, () => host.state(order, readerOf(job)));
      return withValues(state, ({ text }) => text);
    },
    async history(job, order) {
      const states = await answer(job, order, () => host.history(order, readerOf(job)));
      return states === 'too-large' ? states : states.map((state) => withValues(state, ({ text }) => text));
    },
    update: (job, order) => answer(job, order, () => host.update(order, readerOf(job))),
    drawing: (job, order, xray) => answer(job, order, () => describer.drawing(order, xray)),
    schemas: (job, order) => answer(job, order, () => describer.schemas(order)),
    subgraphs: (job, order) => answer(job, order, () => describer.subgraphs(order)),
    abort: (job, reason) => stops.get(job)?.(reason),
    base: onBase,
  };
}

const sizeOf = (texts: readonly { readonly data: string }[]): number =>
  texts.reduce((sum, { data }) => sum + data.length, 0);
