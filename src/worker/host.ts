/** Executes the server's runs and graph queries in this process. */
import type { GraphSpec } from '../graphs/loader.ts';
import type { Clock } from '../kernel/clock.ts';
import { LiveMap } from '../kernel/live-map.ts';
import type { Connection } from '../workers/connection.ts';
import type { Message } from '../workers/frame.ts';
import { TYPE } from '../workers/messages.ts';
import { collectBlobs, packState, packUpdated } from '../workers/packing.ts';
import { fromWireError, toWireError } from '../workers/wire-error.ts';
import type { Attribution } from './attribution.ts';
import { openGraphLoading } from './graph-loading.ts';
import { readerOf } from './run-link.ts';
import { openWorkerRun, type WorkerRun } from './worker-run.ts';

export interface HostOptions {
  readonly connection: Connection;
  readonly graphs: readonly GraphSpec[];
  readonly attribution: Attribution;
  readonly clock: Clock;
}

export interface WorkerHost {
  receive(message: Message): void;
}

export function createWorkerHost({ connection, graphs, attribution, clock }: HostOptions): WorkerHost {
  const { send } = connection;
  const runs = new LiveMap<number, WorkerRun>();
  const load = openGraphLoading(connection, graphs, clock);

  async function runQuery({ stream, head: { m, order, xray } }: Message): Promise<void> {
    const { graphs, describer } = await load(order.graphId);
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
          for (const graphId of head.graphs) load(graphId).catch(() => undefined);
          return;
        case TYPE.run:
          return openWorkerRun(message, { runs, connection, attribution, load });
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
