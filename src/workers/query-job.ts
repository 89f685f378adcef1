/** The server's side of a graph query on a graph worker. */
import { GraphsUnavailable, type CheckpointReader } from '../graphs/port.ts';
import { Unloadable } from '../graphs/unloadable.ts';
import type { Connection } from './connection.ts';
import { TYPE } from './messages.ts';
import type { Job } from './run-job.ts';
import { fromWireError } from './wire-error.ts';

export interface QueryOrder {
  /** The method: `state`, `history`, `update`, `drawing`, `schemas` or `subgraphs`. */
  readonly m: string;
  readonly order: { readonly graphId: string };
  /** Further members of the message. */
  readonly more?: object;
  readonly reader?: CheckpointReader | undefined;
}

export interface Query {
  /** Rejects with the error of graph code, or with `GraphsUnavailable` when the worker ends. */
  readonly result: Promise<{ readonly result: any; readonly blobs: readonly string[] }>;
  abandon(): void;
}

export interface QueryJobOptions extends QueryOrder {
  /** Pending jobs of the worker, by stream number. */
  readonly jobs: Map<number, Job>;
  readonly stream: number;
  readonly send: Connection['send'];
  /** Called when a file could not be opened for the query. */
  readonly onSpoiled: () => void;
}

export function openQueryJob({
  jobs,
  stream,
  send,
  m,
  order,
  more,
  reader,
  onSpoiled,
}: QueryJobOptions): Query {
  /** An unloadable file becomes `GraphsUnavailable`, so that the query is retried in another worker. */
  function toQueryError(error: Error): Error {
    if (error.name !== Unloadable.name) return error;
    onSpoiled();
    return new GraphsUnavailable(error.message);
  }

  const result: Query['result'] = new Promise((resolve, reject) => {
    jobs.set(stream, {
      ...(reader && { checkpoints: reader }),
      ...{ begun: true, saved: false },
      lose: (_, message) => reject(new GraphsUnavailable(message)),
      receive({ type, head, blobs }) {
        if (type !== TYPE.result) return;
        jobs.delete(stream);
        if (head.error === undefined) resolve({ result: head.result, blobs });
        else reject(toQueryError(fromWireError(head.error)));
      },
    });
    send(TYPE.query, stream, { m, order, ...more });
  });
  return {
    result,
    abandon() {
      if (jobs.delete(stream)) send(TYPE.abandon, stream, {});
    },
  };
}
