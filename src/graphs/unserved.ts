/**
 * Kept threads outlive their code: the states of a thread whose graph is not served, or does not load any more, are read
 * from its checkpoints alone, and its runs end with an error.
 */
import type { Ids } from '../kernel/ids.ts';
import { notLoadedText, type GraphProblem } from './loader.ts';
import { GraphNotLoaded, notServedText, type GraphHost } from './port.ts';
import { readRecordedHistory, readRecordedState } from './recorded-states.ts';
import type { StateHost } from './state-port.ts';

interface KeptHost extends GraphHost, StateHost {
  readonly problems?: readonly GraphProblem[];
}

/** Wraps the host. */
export function serveKept<Host extends KeptHost>(host: Host, ids: Ids): Host {
  const isServed = ({ graphId }: { readonly graphId: string }): boolean => host.graphIds.includes(graphId);
  return {
    ...host,
    async run(order, ...rest) {
      if (isServed(order)) return host.run(order, ...rest);
      const problem = host.problems?.find(({ graphId }) => graphId === order.graphId);
      if (problem !== undefined)
        return { kind: 'error', error: 'GraphNotLoaded', message: notLoadedText(problem) };
      const message = notServedText(order.graphId, host.graphIds);
      return { kind: 'error', error: 'GraphNotServed', message };
    },
    async state(order, checkpoints) {
      const read = () => readRecordedState(order, checkpoints, ids);
      return isServed(order) ? host.state(order, checkpoints).catch(ifNotLoaded(read)) : read();
    },
    async history(order, checkpoints) {
      const read = () => readRecordedHistory(order, checkpoints, ids);
      return isServed(order) ? host.history(order, checkpoints).catch(ifNotLoaded(read)) : read();
    },
  } satisfies Host;
}

const ifNotLoaded =
  <T>(read: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (error instanceof GraphNotLoaded) return read();
    throw error;
  };
