import { isObject, type Json } from '../../kernel/json.ts';
import type { Reviver } from '../codec.ts';
import type { GraphCommand, RunOrder, StreamMode } from '../port.ts';
import { toRunConfig } from '../run-config.ts';

/** The input that the runtime gets: null goes on from the last checkpoint. */
export function toInput(order: RunOrder, reviver: Reviver): unknown {
  if (order.resume) return null;
  return order.command === undefined ? order.input : toCommand(order.command, reviver);
}

function toCommand({ goto, update, resume }: GraphCommand, reviver: Reviver): unknown {
  const targets = goto === undefined || goto === null ? [] : Array.isArray(goto) ? goto : [goto];
  return reviver.command({
    ...(targets.length === 0 ? {} : { goto: targets.map((target) => toTarget(target, reviver)) }),
    ...(update === undefined || update === null ? {} : { update }),
    ...(resume === undefined || resume === null ? {} : { resume }),
  });
}

const toTarget = (target: Json, reviver: Reviver): unknown =>
  isObject(target) ? reviver.send({ node: target['node'], args: target['input'] ?? null }) : target;

const RUNTIME_MODES: Record<Exclude<StreamMode, 'events'>, string> = {
  values: 'values',
  updates: 'updates',
  'messages-tuple': 'messages',
  custom: 'custom',
};

/** The runtime's names of the requested modes, without `events`, which is no mode of the runtime. */
export const toRuntimeModes = (modes: readonly StreamMode[]): string[] => [
  ...new Set(modes.flatMap((mode) => (mode === 'events' ? [] : [RUNTIME_MODES[mode]]))),
];

/** Options that are absent stay out: the runtime takes `undefined` for a value and forgets the graph's own default. */
export function toOptions(order: RunOrder, signal: AbortSignal): object {
  const { interruptBefore, interruptAfter, durability, context, config } = order;
  const modes = toRuntimeModes(order.streamModes);
  return {
    ...toRunConfig(order),
    runId: order.runId,
    tags: [...(config.tags ?? [])],
    signal,
    // The runtime insists on a mode; frames of modes that nobody asked for are dropped.
    streamMode: modes.length === 0 ? ['values'] : modes,
    subgraphs: order.streamSubgraphs,
    ...(config.recursion_limit === undefined ? {} : { recursionLimit: config.recursion_limit }),
    ...(context === undefined || context === null ? {} : { context }),
    ...(interruptBefore === undefined ? {} : { interruptBefore }),
    ...(interruptAfter === undefined ? {} : { interruptAfter }),
    ...(durability === undefined ? {} : { durability }),
  };
}
