/**
 * X7 Call keys: a task has the same one in every attempt at its run, so that tools can derive idempotency keys from it.
 */
import { uuidv5 } from '../kernel/ids.ts';
import { seeConfigs, type ContextConfig } from './library-context.ts';
import { currentSession, placeOf, type Session } from './session.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';

const CALL_KEYS = '5a1c7a0e-4b1f-5d63-9a52-7f0c8e6d2b94';

/** `ns`: the checkpoint namespace of the task, with task ids. */
export const callKeyOf = (runId: string, ns: string): string => uuidv5(`${runId} ${ns}`, CALL_KEYS);

export function callKeyIn({ runId = '' }: Pick<Session, 'runId'>, config: unknown): string | undefined {
  const place = placeOf(config);
  return place && callKeyOf(runId, place.ns);
}

const SESSION = Symbol('session');
const OF_CONFIG = Symbol('config');
interface Keyed {
  readonly [SESSION]: Session;
  readonly [OF_CONFIG]: ContextConfig;
}

/** One getter for all: objects that have getters of their own are slow for V8, and the library copies them often. */
const CALL_KEY = {
  get(this: Keyed): string | undefined {
    return this[SESSION].callKey(this[OF_CONFIG]);
  },
};

/** Call it after the library has loaded. The key is not enumerable: it is in no frame and no checkpoint. */
export const giveCallKeys = (): void => seeConfigs(giveCallKey);

function giveCallKey(config: ContextConfig): void {
  const { metadata } = config;
  const session = currentSession();
  if (metadata === undefined || session === undefined || Object.hasOwn(metadata, 'call_key')) return;
  Object.defineProperty(metadata, SESSION, { value: session });
  Object.defineProperty(metadata, OF_CONFIG, { value: config });
  Object.defineProperty(metadata, 'call_key', CALL_KEY);
}
