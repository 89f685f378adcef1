/** Executes the server's runs and graph queries in this process. Each graph loads when it is first requested. */
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
  /** Starts the run if `ok`; otherwise forgets it, because another worker executes it. */
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
    send(TYPE.loaded, 0, { graph: graphId, ...(problem && { problem }) } satisfies Loaded);
    return { graphs: loaded, describer };
  }

  /** Loads graphs one after the other, so that the server knows which one was loading when the process dies. */
  function loadInTurn(graphId: string): Promise<LoadedGraph> {
    const known = loading.get(graphId);
    if (known !== undefined) return known;
    const loaded = chain.then(() => load(graphId));
    loading.set(graphId, loaded);
    chain = loaded.catch(() => undefined);
    return loaded;
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
    /** The server has stopped the run, or the run has ended; its later errors do not count. */
    let isStopped = false;
    let unhandled: { readonly thrown: unknown } | undefined;
    const job = {
      title: `run ${order.runId} of graph "${order.graphId}"`,
      fail(thrown: unknown) {
        if (isStopped || unhandled !== undefined) return;
        unhandled = { thrown };
        // The abort ends the run at once, without waiting for its remaining code.
        stop.abort('fenced' satisfies StopReason);
      },
    };

    async function execute(): Promise<void> {
      let isWorking = false;
      let outlivesRun = false;
      const { graphs } = await loadInTurn(order.graphId);
      const end = await graphs.run(order, link, stop.signal, (work) => {
        isWorking = true;
        const onSettled = (): void => {
          isWorking = false;
          if (outlivesRun) send(TYPE.overrun, 0, { change: -1 });
        };
        work.then(onSettled, onSettled);
      });
      outlivesRun = isWorking;
      if (outlivesRun) send(TYPE.overrun, 0, { change: 1 });
      finish(stream, unhandled === undefined || isStopped ? end : toErrorEnd(unhandled.thrown));
    }

    function start(): void {
      attribution
        .inside(job, execute)
        .catch((error: unknown) => finish(stream, toErrorEnd(error)))
        .finally(() => {
          isStopped = true;
          runs.delete(stream);
        });
    }

    runs.set(stream, {
      link,
      stop(reason) {
        isStopped = true;
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

  async function runQuery({ stream, head: { m, order, xray } }: Message): Promise<void> {
    const { graphs, describer } = await loadInTurn(order.graphId);
    const reader = readerOf(connection, stream);
    const blobs = collectBlobs();
    let result: unknown;
    if (m === 'state') result = packState(await graphs.state(order, reader), blobs);
    else if (m === 'history') {
      const states = await graphs.history(order, reader);
      result = states === 'too-large' ? states : states.map((state) => packState(state, blobs));
    } else if (m === 'update') result = packUpdated(await graphs.update(order, reader), blobs);
    else if (m === 'drawing') result = await describer.drawing(order, xray);
    else if (m === 'schemas') result = await describer.schemas(order);
    else if (m === 'subgraphs') result = await describer.subgraphs(order);
    else throw new Error(`There is no query "${m}"`);
    send(TYPE.result, stream, { result }, blobs.list);
  }

  function query(message: Message): void {
    const { stream, head } = message;
    const title = `a query of graph "${head.order.graphId}"`;
    attribution
      .inside({ title, fail: () => undefined }, () => runQuery(message))
      .catch((error: unknown) => send(TYPE.result, stream, { error: toWireError(error) }));
  }

  return {
    receive(message) {
      const { stream, head } = message;
      switch (message.type) {
        case TYPE.load:
          // `load` reports the failure of a graph in its `loaded` message.
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
        case TYPE.query:
          return query(message);
        case TYPE.abandon: // A query cannot be stopped; the server ignores its result.
          return;
        default:
          throw new Error(`There is no message of type ${message.type}`);
      }
    },
  };
}
