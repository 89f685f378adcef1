/** The arguments of graph factories `(config, runtime) => graph`. */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Reviver } from './codec.ts';
import type { RunOrder, StateOrder } from './port.ts';
import { toConfigurable } from './private-keys.ts';
import { toRunConfig } from './run-config.ts';
import type { GraphOrder } from './schema-port.ts';
import { createGraphStore, type GraphStore } from './store.ts';
import type { StorePort } from './store-port.ts';

/** The operation that calls a factory. */
export type AccessContext = 'threads.create_run' | 'threads.update' | 'threads.read' | 'assistants.read';

/** The user's library, undefined if the project has none. */
export type OptionalLibrary = () => Promise<Reviver | undefined>;

export interface FactoryRuntime {
  readonly accessContext: AccessContext;
  /** The authenticated user with all custom fields (A4). */
  readonly user: JsonObject | null;
  readonly store: GraphStore;
  /** Null when no run is executed. */
  readonly executionRuntime: { readonly context: Json | undefined } | null;
}

/** The config for a factory in a run. */
export function factoryConfig(order: RunOrder): object {
  const { configurable, metadata } = toRunConfig(order);
  const { madeWith } = order.config;
  return {
    configurable: { ...configurable, ...madeWith?.configurable },
    metadata,
    tags: [...(order.config.tags ?? [])],
    ...contextOf(madeWith?.context ?? order.context),
  };
}

export async function runRuntime(
  order: RunOrder,
  items: StorePort,
  library: OptionalLibrary,
): Promise<FactoryRuntime> {
  const context = order.config.madeWith?.context ?? order.context;
  return {
    ...{ accessContext: 'threads.create_run', user: order.user ?? null },
    store: await openStore(items, library),
    executionRuntime: { context: context ?? undefined },
  };
}

export function stateConfig({ config, context, threadId, graphId }: StateOrder): object {
  const { madeWith } = config;
  return {
    configurable: {
      ...toConfigurable({ ...config.configurable, ...madeWith?.configurable }, undefined),
      thread_id: threadId,
      graph_id: graphId,
    },
    metadata: config.metadata,
    ...contextOf(madeWith?.context ?? context),
  };
}

export const graphConfig = ({ configurable, context, graphId }: GraphOrder): object => ({
  configurable: { ...toConfigurable(configurable, undefined), graph_id: graphId },
  metadata: {},
  tags: [],
  ...(context === undefined ? {} : { context }),
});

export const readRuntime = async (
  accessContext: Exclude<AccessContext, 'threads.create_run'>,
  user: JsonObject | undefined,
  library: OptionalLibrary,
): Promise<FactoryRuntime> => ({
  ...{ accessContext, user: user ?? null, executionRuntime: null },
  store: await openStore(OUTSIDE_RUNS, library),
});

/** A factory may pass the store on in every context, but only runs have one to use. */
const OUTSIDE_RUNS: StorePort = {
  batch: async () => {
    throw new Error(
      'A graph factory can use the store in runs only; runtime.executionRuntime is null outside of them',
    );
  },
};

/** An instance of the library's store class, or a plain object for functions without the library. */
async function openStore(items: StorePort, library: OptionalLibrary): Promise<GraphStore> {
  return createGraphStore(items, (await library())?.store?.());
}

const contextOf = (context: Json | undefined): object =>
  context === undefined || context === null ? {} : { context };
