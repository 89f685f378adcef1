/** Attributes rejections of graph queries to graph code, the worker or the checkpoint reader. */
import { toWords } from './failure.ts';
import { GraphFailed, GraphsUnavailable, type CheckpointReader } from './port.ts';
import type { GraphDescriber } from './schema-port.ts';
import type { StateHost } from './state-port.ts';

/**
 * Wraps the queries: they reject with `GraphsUnavailable`, or with the checkpoint reader's own error. Any other error
 * comes from graph code and becomes `GraphFailed`.
 */
export function attributeFaults(
  host: StateHost,
  describer: GraphDescriber,
): Pick<StateHost, 'state' | 'history' | 'update'> & { readonly describer: GraphDescriber } {
  return {
    state: (order, checkpoints) => attributeReader(checkpoints, (reader) => host.state(order, reader)),
    history: (order, checkpoints) => attributeReader(checkpoints, (reader) => host.history(order, reader)),
    update: (order, checkpoints) => attributeReader(checkpoints, (reader) => host.update(order, reader)),
    describer: {
      drawing: (order, xray) => attribute(() => describer.drawing(order, xray)),
      schemas: (order) => attribute(() => describer.schemas(order)),
      subgraphs: (order) => attribute(() => describer.subgraphs(order)),
    },
  };
}

async function attribute<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof GraphsUnavailable) throw error;
    throw new GraphFailed(toWords(error), { cause: error });
  }
}

/** Records the reader's errors here, because an error loses its class on its way through a graph worker. */
async function attributeReader<T>(
  checkpoints: CheckpointReader,
  query: (reader: CheckpointReader) => Promise<T>,
): Promise<T> {
  const faults: unknown[] = [];
  const note = (error: unknown): never => {
    faults.push(error);
    throw error;
  };
  const reader: CheckpointReader = {
    load: (ns, checkpointId, choice) => checkpoints.load(ns, checkpointId, choice).catch(note),
    list: (filter) => checkpoints.list(filter).catch(note),
  };
  try {
    const result = await attribute(() => query(reader));
    if (faults.length === 0) return result;
  } catch (error) {
    if (faults.length === 0) throw error;
  }
  // A reader fault also rejects a result, because the result lacks what could not be read.
  throw faults[0];
}
