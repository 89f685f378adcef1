/** The orders of the server, carried out by graphs in this process. Each graph is loaded when it is first named. */
import { toErrorEnd } from '../graphs/failure.ts';
import { openInProcessGraphs, type InProcessGraphs } from '../graphs/in-process.ts';
import { loadGraphs, type GraphSpec } from '../graphs/loader.ts';
import type { RunOrder, StopReason } from '../graphs/port.ts';
import { openDescriber } from '../graphs/schemas/describer.ts';
import type { GraphDescriber } from '../graphs/schema-port.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomIds } from '../kernel/ids.ts';
import type { Connection } from '../workers/connection.ts';
import type { Message } from '../workers/frame.ts';
import { TYPE, type Loaded, type Run } from '../workers/messages.ts';
import { collectBlobs, packState, packUpdated, unpackLoaded } from '../workers/packing.ts';
import { fromWireError, toWireError } from '../workers/wire-error.ts';
import type { Attribution } from './attribution.ts';
import { openRunLink, readerOf, type StreamLink } from './run-link.ts';

export interface HostOptions {
  readonly connection: Connection;
  readonly graphs: readonly GraphSpec[];
  readonly attribution: Attribution;
  readonly clock: Clock;
}

export interface WorkerHost {
  receive(message: Message): void;
}

interface OpenRun {
  readonly link: StreamLink;
  readonly stop: (reason: StopReason) => void;
  /** Lets the run begin, or gives it up. */
  readonly go: (ok: boolean) => void;
}

interface LoadedGraph {
  readonly graphs: InProcessGraphs;
  readonly describer: GraphDescriber;
}

export function createWorkerHost({ connection, graphs, attribution, clock }: HostOptions): WorkerHost {
  const { send } = connection;
  const ids = randomIds(clock);
  const runs = new Map<number, OpenRun>();
  const loading = new Map<string, Promise<LoadedGraph>>();
  let chain: Promise<unknown> = Promise.resolve();

  async function load(graphId: string): Promise<LoadedGraph> {
    const spec = graphs.find(({ id }) => id === graphId);
    if (spec === undefined) throw new Error(`There is no graph "${graphId}"`);
    const found = await loadGraphs([spec]);
    const loaded = openInProcessGraphs({ ...found, ids, clock });
    const describer = openDescriber({
      graphs: found.graphs,
      readSource: async (file, exportName) =>
        (await connection.call(0, { m: 'source', file, exportName })).head.report,
    });
    const [problem] = found.problems;
    await loaded.findLibraries();
    const told: Loaded = { graph: graphId, ...(problem && { problem }) };
    send(TYPE.loaded, 0, told);
    return { graphs: loaded, describer };
  }

  /** One graph after the other, so that the server knows which one is loading when the process ends. */
  function loadInTurn(graphId: string): Promise<LoadedGraph> {
    let found = loading.get(graphId);
    if (found === undefined) {
      found = chain.then(() => load(graphId));
      loading.set(graphId, found);
      chain = found.catch(() => undefined);
    }
    return found;
  }

  function openRun(message: Message): void {
    const { stream, blobs } = message;
    const { go, head, ...run } = message.head as Run;
    const order = {
      ...run.order,
      input: JSON.parse(blobs[run.input]!),
      ...(run.command !== undefined && { command: JSON.parse(blobs[run.command]!) }),
      ...(run.context !== undefined && { context: JSON.parse(blobs[run.context]!) }),
    } as RunOrder;
    const link = openRunLink({
      ...{ connection, stream, isSync: order.durability === 'sync' },
      ...(head !== undefined && { head: { checkpoint: unpackLoaded(head, blobs) } }),
    });
    const stop = new AbortController();
    let asked = false;
    let stray: { readonly thrown: unknown } | undefined;
    const job = {
      title: `run ${order.runId} of graph "${order.graphId}"`,
      fail(thrown: unknown) {
        if (asked || stray !== undefined) return;
        stray = { thrown };
        // Code that is left of the run is told as of a cancellation, and not waited for.
        stop.abort('fenced' satisfies StopReason);
      },
    };

    async function execute(): Promise<void> {
      let isWorking = false;
      let isTold = false;
      const { graphs } = await loadInTurn(order.graphId);
      const end = await graphs.run(order, link, stop.signal, (work) => {
        isWorking = true;
        const onSettled = (): void => {
          isWorking = false;
          if (isTold) send(TYPE.leftover, 0, { change: -1 });
        };
        work.then(onSettled, onSettled);
      });
      isTold = isWorking;
      if (isTold) send(TYPE.leftover, 0, { change: 1 });
      finish(stream, stray === undefined || asked ? end : toErrorEnd(stray.thrown));
    }

    function start(): void {
      attribution
        .inside(job, execute)
        .catch((error: unknown) => finish(stream, toErrorEnd(error)))
        .finally(() => {
          asked = true;
          runs.delete(stream);
        });
    }

    runs.set(stream, {
      link,
      stop(reason) {
        asked = true;
        attribution.inside(job, () => stop.abort(reason));
      },
      go(ok) {
        if (ok) start();
        else runs.delete(stream);
      },
    });
    if (go) start();
    else send(TYPE.begin, stream, {});
  }

  function finish(stream: number, { ...end }: Awaited<ReturnType<InProcessGraphs['run']>>): void {
    const { untracked, ...head } = end as typeof end & { untracked?: string };
    try {
      send(TYPE.end, stream, head, untracked === undefined ? [] : [untracked]);
    } catch (error) {
      send(TYPE.end, stream, toErrorEnd(error));
    }
  }

  async function answer({ stream, head: { m, order, xray } }: Message): Promise<void> {
    const { graphs, describer } = await loadInTurn(order.graphId);
    const reader = readerOf(connection, stream);
    const blobs = collectBlobs();
    let answered: unknown;
    if (m === 'state') answered = packState(await graphs.state(order, reader), blobs);
    else if (m === 'history') {
      const states = await graphs.history(order, reader);
      answered = states === 'too-large' ? states : states.map((state) => packState(state, blobs));
    } else if (m === 'update') answered = packUpdated(await graphs.update(order, reader), blobs);
    else if (m === 'drawing') answered = await describer.drawing(order, xray);
    else if (m === 'schemas') answered = await describer.schemas(order);
    else if (m === 'subgraphs') answered = await describer.subgraphs(order);
    else throw new Error(`There is no question "${m}"`);
    send(TYPE.answer, stream, { answered }, blobs.list);
  }

  function ask(message: Message): void {
    const { stream, head } = message;
    const title = `a question about graph "${head.order.graphId}"`;
    attribution
      .inside({ title, fail: () => undefined }, () => answer(message))
      .catch((error: unknown) => send(TYPE.answer, stream, { error: toWireError(error) }));
  }

  return {
    receive(message) {
      const { stream, head } = message;
      switch (message.type) {
        case TYPE.load:
          // A graph that fails to load says so by `loaded`.
          for (const graphId of head.graphs) loadInTurn(graphId).catch(() => undefined);
          return;
        case TYPE.run:
          return openRun(message);
        case TYPE.go:
          return runs.get(stream)?.go(head.ok);
        case TYPE.cancel:
          return runs.get(stream)?.stop(head.reason);
        case TYPE.credit:
          return runs.get(stream)?.link.credit(head.bytes, head.messages);
        case TYPE.refused:
          return runs.get(stream)?.link.refuse(fromWireError(head.error));
        case TYPE.ask:
          return ask(message);
        case TYPE.leave:
          return;
        default:
          throw new Error(`There is no message of type ${message.type}`);
      }
    },
  };
}
