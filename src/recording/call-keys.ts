/**
 * X7 Call keys: a task has the same one in every attempt at its run, so that tools can derive idempotency keys from it. The graph
 * library makes the config of each task itself; its asynchronous context is where that can be seen before the task begins.
 */
import { uuidv5 } from '../kernel/ids.ts';
import { currentSession, placeOf, type Session } from './session.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';

const CALL_KEYS = '5a1c7a0e-4b1f-5d63-9a52-7f0c8e6d2b94';

/** `ns`: the checkpoint namespace of the task, with task ids. */
export const callKeyOf = (runId: string, ns: string): string => uuidv5(`${runId} ${ns}`, CALL_KEYS);

export function callKeyIn({ runId = '' }: Pick<Session, 'runId'>, config: unknown): string | undefined {
  const place = placeOf(config);
  return place && callKeyOf(runId, place.ns);
}

/** The library's asynchronous context, and where that has the config of the current task. */
const CONTEXT = Symbol.for('ls:tracing_async_local_storage');
const CONFIG = Symbol.for('lc:child_config');

interface Context {
  run(store: Store | undefined, ...rest: readonly unknown[]): unknown;
}
interface Store {
  readonly extra?: { readonly [CONFIG]?: { readonly metadata?: Record<string, unknown> } };
}

const observed = new WeakSet<Context>();

/** Call it after the library has loaded. The key is not enumerable: it is in no frame and no checkpoint. */
export function giveCallKeys(): void {
  const context = (globalThis as { [CONTEXT]?: Context })[CONTEXT];
  if (context === undefined || observed.has(context)) return;
  observed.add(context);
  const { run } = context;
  context.run = function (store, ...rest) {
    const config = store?.extra?.[CONFIG];
    const session = currentSession();
    if (
      config?.metadata !== undefined &&
      session !== undefined &&
      !Object.hasOwn(config.metadata, 'call_key')
    )
      Object.defineProperty(config.metadata, 'call_key', { get: () => session.callKey(config) });
    return run.call(this, store, ...rest);
  };
}
