/** The asynchronous context of the graph library, which has the config of the current task before the task's code begins. */

const CONTEXT = Symbol.for('ls:tracing_async_local_storage');
const CONFIG = Symbol.for('lc:child_config');

interface Context {
  run(store: Store | undefined, ...rest: readonly unknown[]): unknown;
}
interface Store {
  readonly extra?: { readonly [CONFIG]?: ContextConfig };
}

/** The object that the code of a task gets as its config. */
export interface ContextConfig {
  readonly metadata?: Record<string, unknown>;
  readonly tags?: readonly string[];
  callbacks?: unknown;
}

const observed = new WeakMap<Context, Set<(config: ContextConfig) => void>>();

/** Call it after the library has loaded: `see` gets each config before its code begins. A second call with it has no effect. */
export function seeConfigs(see: (config: ContextConfig) => void): void {
  const context = (globalThis as { [CONTEXT]?: Context })[CONTEXT];
  if (context === undefined) return;
  const known = observed.get(context);
  if (known !== undefined) return void known.add(see);
  const all = new Set([see]);
  observed.set(context, all);
  const { run } = context;
  context.run = function (store, ...rest) {
    const config = store?.extra?.[CONFIG];
    if (config !== undefined) for (const each of all) each(config);
    return run.call(this, store, ...rest);
  };
}
