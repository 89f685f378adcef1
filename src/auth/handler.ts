/** Access to the developer's auth object, of either `Auth` class. Handlers are looked up at every request. */
export interface AuthHandler {
  /** The registered authenticator. Throws a `TypeError` if there is none, so a misconfigured server denies. */
  authenticator(): (request: Request) => unknown;
  /** The callback registered for exactly this key. Throws a `TypeError` if it is not a function. */
  callback(key: string): ((context: object) => unknown) | undefined;
}

const HANDLERS_KEY = '~handlerCache';

/** Recognises this module's and the official client's `Auth` by shape: both store handlers in the same property. */
export function recogniseAuth(exported: unknown): AuthHandler | undefined {
  if (!isRecord(exported) || !isRecord(exported[HANDLERS_KEY])) return undefined;
  const cache = (): Record<string, unknown> => {
    const current = exported[HANDLERS_KEY];
    if (!isRecord(current)) throw new TypeError('the auth object lost its handlers');
    return current;
  };
  return {
    authenticator() {
      const { authenticate } = cache();
      if (!isFunction(authenticate)) throw new TypeError('the auth object has no authenticate handler');
      return authenticate;
    },
    callback(key) {
      const { callbacks } = cache();
      if (callbacks === undefined) return undefined;
      if (!isRecord(callbacks)) throw new TypeError('the auth object lost its callbacks');
      if (!Object.hasOwn(callbacks, key)) return undefined;
      const callback = callbacks[key];
      if (!isFunction(callback)) throw new TypeError(`the auth handler of "${key}" is not a function`);
      return callback;
    },
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isFunction = (value: unknown): value is (argument: object) => unknown => typeof value === 'function';
