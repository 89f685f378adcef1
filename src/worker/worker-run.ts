/** Executes one run attempt for the server: from its `run` message to its `end`. */
import { toErrorEnd } from '../graphs/failure.ts';
import type { InProcessGraphs } from '../graphs/in-process.ts';
import type { RunOrder, StopReason } from '../graphs/port.ts';
import { breathe } from '../kernel/breathe.ts';
import { shortId } from '../kernel/ids.ts';
import type { LiveMap } from '../kernel/live-map.ts';
import type { Connection } from '../workers/connection.ts';
import type { Message } from '../workers/frame.ts';
import { TYPE, type Run } from '../workers/messages.ts';
import { unpackLoaded } from '../workers/packing.ts';
import type { Attribution } from './attribution.ts';
import type { LoadGraph } from './graph-loading.ts';
import { openRunLink, type StreamLink } from './run-link.ts';

export interface WorkerRun {
  readonly link: StreamLink;
  readonly stop: (reason: StopReason) => void;
  /** Starts the run if `ok`; otherwise forgets it, because another worker executes it. */
  readonly go: (ok: boolean) => void;
}

export interface WorkerRunOptions {
  /** The run is here, by stream, until it has ended. */
  readonly runs: LiveMap<number, WorkerRun>;
  readonly connection: Connection;
  readonly attribution: Attribution;
  readonly load: LoadGraph;
}

export function openWorkerRun(
  message: Message,
  { runs, connection, attribution, load }: WorkerRunOptions,
): void {
  const { send } = connection;
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
    label: `${order.graphId} ${shortId(order.runId)}`,
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
    const { graphs } = await load(order.graphId);
    if (graphs.isPlain(order.graphId)) {
      // What a function that returns at once writes is one message with its end.
      link.hold();
      void breathe().then(link.release);
    }
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
    finish(unhandled === undefined || isStopped ? end : toErrorEnd(unhandled.thrown));
  }

  function start(): void {
    attribution
      .inside(job, execute)
      .catch((error: unknown) => finish(toErrorEnd(error)))
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

  function finish({ ...end }: Awaited<ReturnType<InProcessGraphs['run']>>): void {
    const { untracked, ...more } = end as typeof end & { untracked?: string };
    const held = link.take();
    const wrote = held.map(({ blobs, ...write }) => ({ ...write, blobs: blobs.length }));
    const blobs = held.flatMap((write) => write.blobs);
    if (untracked !== undefined) blobs.push(untracked);
    try {
      send(TYPE.end, stream, { ...more, ...(wrote.length > 0 && { wrote }) }, blobs);
    } catch (error) {
      for (const write of held) send(write.type, stream, write.head, write.blobs);
      send(TYPE.end, stream, toErrorEnd(error));
    }
  }
}
