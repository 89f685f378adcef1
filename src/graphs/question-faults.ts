/** Attributes rejections of graph queries to graph code, the worker or the checkpoint reader. */
import { toWords } from './failure.ts';
import { GraphFailed, GraphsUnavailable, type CheckpointReader } from './port.ts';
import type { GraphDescriber } from './schema-port.ts';
import type { StateHost } from './state-port.ts';

/**
 * Wraps the queries: they reject with `GraphsUnavailable`, or with the checkpoint reader's own error. Any other error
 * comes from graph code and becomes `GraphFailed`.
 */
export function blaming(
  host: StateHost,
  describer: GraphDescriber,
): Pick<StateHost, 'state' | 'history' | 'update'> & { readonly describer: GraphDescriber } {
  return {
    state: (order, checkpoints) => blameReader(checkpoints, (reader) => host.state(order, reader)),
    history: (order, checkpoints) => blameReader(checkpoints, (reader) => host.history(order, reader)),
    update: (order, checkpoints) => blameReader(checkpoints, (reader) => host.update(order, reader)),
    describer: {
      drawing: (order, xray) => blame(() => describer.drawing(order, xray)),
      schemas: (order) => blame(() => describer.schemas(order)),
      subgraphs: (order) => blame(() => describer.subgraphs(order)),
    },
  };
}

async function blame<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof GraphsUnavailable) throw error;
    throw new GraphFailed(toWords(error), { cause: error });
  }
}

/** Records the reader's errors here, because an error loses its class on its way through a graph worker. */
async function blameReader<T>(
  checkpoints: CheckpointReader,
  ask: (reader: CheckpointReader) => Promise<T>,
): Promise<T> {
  const faults: unknown[] = [];
  const note = (error: unknown): never => {
    faults.push(error);
    throw error;
  };
  const reader: CheckpointReader = {
    load: (ns, checkpointId, choice) => checkpoints.load(ns, checkpointId, choice).catch(note),
    list: (query) => checkpoints.list(query).catch(note),
  };
  try {
    const answer = await blame(() => ask(reader));
    if (faults.length === 0) return answer;
  } catch (error) {
    if (faults.length === 0) throw error;
  }
  // A reader fault also rejects an answer, because the answer lacks what could not be read.
  throw faults[0];
}
