/** Converts a run order to the input and options of the runtime. */
import { isObject, type Json } from '../../kernel/json.ts';
import type { Reviver } from '../codec.ts';
import { libraryModesOf, readsOf } from '../../protocol/stream-modes.ts';
import type { GraphCommand, RunOrder } from '../port.ts';
import { toRunConfig } from '../run-config.ts';
import type { Chunk } from '../transformers.ts';

/** The runtime's input; null continues from the last checkpoint. */
export function toInput(order: RunOrder, reviver: Reviver): unknown {
  if (order.resume) return null;
  return order.command === undefined ? order.input : toCommand(order.command, reviver);
}

/** Builds an instance of the runtime's `Command`; absent members stay absent. */
export function toCommand({ goto, update, resume }: GraphCommand, reviver: Reviver): unknown {
  const targets = goto === undefined || goto === null ? [] : Array.isArray(goto) ? goto : [goto];
  return reviver.command({
    ...(targets.length === 0 ? {} : { goto: targets.map((target) => toTarget(target, reviver)) }),
    ...(update === undefined || update === null ? {} : { update }),
    ...(resume === undefined || resume === null ? {} : { resume }),
  });
}

const toTarget = (target: Json, reviver: Reviver): unknown =>
  isObject(target) ? reviver.send({ node: target['node'], args: target['input'] ?? null }) : target;

/** Output that the server needs from the runtime in addition to the client's modes. */
export interface Needs {
  readonly modes: readonly string[];
  readonly subgraphs: boolean;
  /** Receives the tasks of all subgraphs if the runtime does not stream subgraphs. */
  readonly listener?: ChunkListener | undefined;
}

/** Has the interface of the runtime's internal stream, which subgraphs get through their config. */
export interface ChunkListener {
  readonly modes: ReadonlySet<string>;
  push(chunk: Chunk): void;
}

/** The runtime's config key of the stream that subgraphs write to. */
const STREAM_KEY = '__pregel_stream';

/** Absent options must not be set: the runtime lets `undefined` override the graph's own default. */
export function toOptions(order: RunOrder, signal: AbortSignal, needs: Needs): object {
  const { interruptBefore, interruptAfter, durability, context, config } = order;
  const modes = [...libraryModesOf(order.streamModes), ...needs.modes, ...readsOf(order.streamModes)];
  const runConfig = toRunConfig(order);
  return {
    ...runConfig,
    ...(needs.listener && { configurable: { ...runConfig.configurable, [STREAM_KEY]: needs.listener } }),
    runId: order.runId,
    tags: [...(config.tags ?? [])],
    signal,
    // The runtime requires at least one mode. Chunks of modes that are only read become no frames.
    streamMode: modes.length === 0 ? ['values'] : [...new Set(modes)],
    subgraphs: needs.subgraphs,
    // With `version: 'v2'` the runtime streams a chunk with the checkpoint's id before every state.
    ...(order.protocolFrames === true && { version: 'v2' }),
    ...(config.recursion_limit === undefined ? {} : { recursionLimit: config.recursion_limit }),
    ...(context === undefined || context === null ? {} : { context }),
    ...(interruptBefore === undefined ? {} : { interruptBefore }),
    ...(interruptAfter === undefined ? {} : { interruptAfter }),
    ...(durability === undefined ? {} : { durability }),
  };
}
