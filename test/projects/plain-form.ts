/** The library's own objects as the JSON that clients get. */

const isMessage = (value: any): boolean =>
  typeof value?.toDict === 'function' && typeof value.getType === 'function';

function toPlainMessage(message: any): unknown {
  const { data } = message.toDict();
  return { ...data, type: message.getType() };
}

export const toPlain = (value: unknown): any => {
  if (isMessage(value)) return toPlain(toPlainMessage(value));
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Error) return { error: value.name, message: value.message };
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return toPlain(Object.fromEntries(value));
  if (value instanceof Set) return toPlain([...value]);
  if (typeof value !== 'object' || value === null) return value;
  const own = value as { toJSON?: () => unknown; lg_name?: string };
  if (typeof own.toJSON === 'function') return toPlain(own.toJSON());
  return Object.fromEntries(Object.entries(own).map(([key, each]) => [key, toPlain(each)]));
};

export function toChunk(mode: string, payload: any): unknown {
  if (mode === 'messages') {
    const [message, metadata] = payload;
    const type = /Chunk$/.test(message.constructor.name) ? message.constructor.name : undefined;
    return [{ ...toPlain(message), ...(type !== undefined && { type }) }, toPlain(metadata)];
  }
  if (mode === 'checkpoints') return toCheckpoint(payload);
  if (mode === 'debug' && payload.type === 'checkpoint')
    return toPlain({ ...payload, payload: toCheckpoint(payload.payload) });
  return toPlain(payload);
}

/** The platform tells the configs of a checkpoint without the runtime's machinery, and adds where it lies. */
function toCheckpoint({ config, parentConfig, tasks, ...rest }: any): unknown {
  return toPlain({
    ...rest,
    tasks: tasks.map(({ state, ...task }: any) =>
      state?.configurable === undefined ? { ...task, state } : { ...task, checkpoint: state.configurable },
    ),
    config: toConfig(config),
    parent_config: parentConfig === undefined ? null : toConfig(parentConfig),
    checkpoint: toPlace(config),
    parent_checkpoint: toPlace(parentConfig),
  });
}

const toConfig = ({ tags, recursion_limit, metadata = {}, configurable = {} }: any): unknown => ({
  ...(tags !== undefined && { tags }),
  ...(recursion_limit !== undefined && { recursion_limit }),
  metadata,
  configurable: Object.fromEntries(
    Object.entries(configurable).filter(([key, value]) => !key.startsWith('__pregel') && value !== undefined),
  ),
});

function toPlace(config: any): unknown {
  if (config === undefined) return null;
  const { checkpoint_ns = '', checkpoint_id = null, checkpoint_map = null, thread_id } = config.configurable;
  return { thread_id, checkpoint_ns, checkpoint_id, checkpoint_map };
}

/** A state as the threads API words it. */
export function toPlainState(state: any): unknown {
  return {
    values: toPlain(state.values),
    next: state.next,
    tasks: state.tasks.map((task: any) => ({
      id: task.id,
      name: task.name,
      // The platform tells an error's text.
      error: task.error?.message ?? null,
      interrupts: toPlain(task.interrupts),
      path: toPlain(task.path) ?? null,
      result: toPlain(task.result) ?? null,
      state: task.state?.values === undefined ? null : toPlainState(task.state),
    })),
    metadata: toPlain(state.metadata) ?? null,
    checkpoint: state.config.configurable.checkpoint_id ?? null,
    parent_checkpoint: state.parentConfig?.configurable?.checkpoint_id ?? null,
  };
}
