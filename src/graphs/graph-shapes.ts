import type { Json } from '../kernel/json.ts';

/** The members of a compiled LangGraph.js graph, of any supported version, that the server uses. */
export interface CompiledGraph {
  readonly name?: string;
  readonly streamChannelsAsIs: string | readonly string[];
  readonly nodes: Readonly<Record<string, GraphNode>>;
  readonly interruptAfter?: '*' | readonly string[];
  /** The graph's default config. */
  readonly config?: {
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly configurable?: Readonly<Record<string, unknown>>;
  };
  /** Factories of the author's stream transformers. */
  readonly streamTransformers?: readonly unknown[];
  /** Conditional edges by node and name; absent for graphs that no builder made. */
  readonly builder?: BuiltFrom;
  checkpointer?: unknown;
  store?: unknown;
  channels?: Readonly<Record<string, GraphChannel>>;
  /** Returns a copy with this default config. It shares the nodes and has its own `checkpointer`, `store` and `channels`. */
  withConfig(config: object): CompiledGraph;
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, options: object): AsyncIterable<unknown>;
  getState(config: object, options?: object): Promise<Snapshot>;
  getStateHistory(config: object, options?: object): AsyncIterable<Snapshot>;
  bulkUpdateState(config: object, supersteps: readonly object[]): Promise<SnapshotConfig>;
}

export interface GraphChannel {
  readonly lc_graph_name?: string;
}

export interface DeltaChannel extends GraphChannel {
  /** Returns a new channel with its initial value. */
  fromCheckpoint(): DeltaChannel;
  get(): unknown;
  /** The number of updates after which a checkpoint stores the whole value. */
  snapshotFrequency: number;
}

export interface GraphNode {
  readonly tags?: readonly string[];
  /** Channels whose update starts the node. */
  readonly triggers?: readonly string[];
  /** The node's input channels: a record by input key, or a list whose first channel with a value is the input. */
  readonly channels?: readonly string[] | Readonly<Record<string, string>>;
  /** The node executes this: a function of the author as `func`, or a graph. */
  readonly bound?: { readonly func?: unknown };
  readonly subgraphs?: readonly unknown[];
}

export interface BuiltFrom {
  readonly branches?: Readonly<Record<string, Readonly<Record<string, GraphBranch>>>>;
}

/** A conditional edge. */
interface GraphBranch {
  /** The author's function; older library versions wrap it once more. */
  readonly path?: { readonly func?: unknown; readonly bound?: { readonly func?: unknown } };
  /** Nodes by the values that `path` may return; any node without it. */
  readonly ends?: Readonly<Record<string, string>>;
}

/** The result of `getState`. */
export interface Snapshot {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly SnapshotTask[];
  readonly config?: SnapshotConfig;
  readonly parentConfig?: SnapshotConfig;
  readonly metadata?: Record<string, unknown>;
  readonly createdAt?: string;
}

export interface SnapshotTask {
  readonly id: string;
  readonly name: string;
  readonly path?: readonly Json[];
  readonly error?: unknown;
  readonly interrupts?: readonly { id?: string; value?: unknown }[];
  readonly result?: unknown;
  /** A snapshot if subgraphs were requested, otherwise the config to read one with. */
  readonly state?: Snapshot | SnapshotConfig;
}

export interface SnapshotConfig {
  readonly configurable?: { checkpoint_ns?: string; checkpoint_id?: string; checkpoint_map?: unknown };
}

/**
 * The graph that an exported or returned value stands for: a compiled graph, a builder (compiled here), or a wrapper
 * with a compiled graph as its `graph`, such as `createAgent` returns. Undefined for anything else. Throws what
 * `compile()` throws.
 */
export function toCompiledGraph(value: unknown): CompiledGraph | undefined {
  if (isCompiledGraph(value)) return value;
  if (hasMethods(value, ['compile'])) {
    const compiled = (value as { compile(): unknown }).compile();
    return isCompiledGraph(compiled) ? compiled : undefined;
  }
  const inner =
    typeof value === 'object' && value !== null ? (value as { graph?: unknown }).graph : undefined;
  return isCompiledGraph(inner) ? inner : undefined;
}

/** A wrapper may forward the methods too; only the graph itself has channels. */
const isCompiledGraph = (value: unknown): value is CompiledGraph =>
  hasMethods(value, ['stream', 'streamEvents', 'getState', 'withConfig']) &&
  (value as Partial<CompiledGraph>).streamChannelsAsIs !== undefined;

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const methods = value as Record<string, unknown>;
  return names.every((name) => typeof methods[name] === 'function');
}
