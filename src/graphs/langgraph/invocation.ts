import { isObject, type Json } from '../../kernel/json.ts';
import type { Reviver } from '../codec.ts';
import type { GraphCommand, RunOrder, StreamMode } from '../port.ts';
import { toRunConfig } from '../run-config.ts';
import type { Chunk } from '../transformers.ts';

/** The input that the runtime gets: null goes on from the last checkpoint. */
export function toInput(order: RunOrder, reviver: Reviver): unknown {
  if (order.resume) return null;
  return order.command === undefined ? order.input : toCommand(order.command, reviver);
}

/** The command in the runtime's own class; members that were not given stay out. */
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

type OwnMode = 'events' | 'messages' | 'lifecycle';
const RUNTIME_MODES: Record<Exclude<StreamMode, OwnMode>, string> = {
  values: 'values',
  updates: 'updates',
  'messages-tuple': 'messages',
  custom: 'custom',
  debug: 'debug',
  tasks: 'tasks',
  checkpoints: 'checkpoints',
  tools: 'tools',
};

/** The runtime's names of the requested modes, without those that are no modes of the runtime. */
export const toRuntimeModes = (modes: readonly StreamMode[]): string[] => [
  ...new Set(modes.flatMap((mode) => (isOwnMode(mode) ? [] : [RUNTIME_MODES[mode]]))),
];

const isOwnMode = (mode: StreamMode): mode is OwnMode => !(mode in RUNTIME_MODES);

/** Some modes are made of the events of everything that runs inside the graph. */
export const needsEvents = (modes: readonly StreamMode[]): boolean =>
  modes.includes('events') || modes.includes('messages');

/** What the runtime is to stream besides what the client asked for. */
export interface Needs {
  readonly modes: readonly string[];
  readonly subgraphs: boolean;
  /** Told of tasks of all graphs, where the runtime does not stream subgraphs. */
  readonly listener?: ChunkListener | undefined;
}

/** In the form of the runtime's own stream, which each graph within gets by its config. */
export interface ChunkListener {
  readonly modes: ReadonlySet<string>;
  push(chunk: Chunk): void;
}

/** The runtime's key of the stream that the graphs within write to. */
const STREAM_KEY = '__pregel_stream';

/**
 * Options that are absent stay out: the runtime takes `undefined` for a value and forgets the graph's own default.
 */
export function toOptions(order: RunOrder, signal: AbortSignal, needs: Needs): object {
  const { interruptBefore, interruptAfter, durability, context, config } = order;
  const modes = [...toRuntimeModes(order.streamModes), ...needs.modes];
  const runConfig = toRunConfig(order);
  return {
    ...runConfig,
    ...(needs.listener && { configurable: { ...runConfig.configurable, [STREAM_KEY]: needs.listener } }),
    runId: order.runId,
    tags: [...(config.tags ?? [])],
    signal,
    // The runtime insists on a mode, and complete messages are found in the values. Frames of a mode that the client did
    // not ask for are dropped.
    streamMode:
      modes.length === 0 || order.streamModes.includes('messages')
        ? [...new Set([...modes, 'values'])]
        : [...new Set(modes)],
    subgraphs: needs.subgraphs,
    // With a version, the runtime names the checkpoint of every state it streams, in a chunk before it.
    ...(order.protocolFrames === true && { version: 'v2' }),
    ...(config.recursion_limit === undefined ? {} : { recursionLimit: config.recursion_limit }),
    ...(context === undefined || context === null ? {} : { context }),
    ...(interruptBefore === undefined ? {} : { interruptBefore }),
    ...(interruptAfter === undefined ? {} : { interruptAfter }),
    ...(durability === undefined ? {} : { durability }),
  };
}
