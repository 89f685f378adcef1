/** The developer's auth object, whichever class made it; looked into anew for every request. */
export interface AuthHandler {
  /** The authenticator registered by now. Throws a `TypeError` when there is none: a server with auth never opens up. */
  authenticator(): (request: Request) => unknown;
  /** The callback registered for exactly this key. Throws a `TypeError` for one that is not a function. */
  callback(key: string): ((context: object) => unknown) | undefined;
}

const MARK = '~handlerCache';

/** Recognises ours and the official client's `Auth` by shape: both keep their handlers in one marked property. */
export function recogniseAuth(exported: unknown): AuthHandler | undefined {
  if (!isRecord(exported) || !isRecord(exported[MARK])) return undefined;
  const cache = (): Record<string, unknown> => {
    const current = exported[MARK];
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
