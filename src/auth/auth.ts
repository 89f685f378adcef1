/**
 * The public module `rewound/auth`: a project declares with it how callers are authenticated and authorized.
 *
 *   import { Auth, HTTPException } from 'rewound/auth';
 *
 *   export const auth = new Auth()
 *     .authenticate(async (request) => {
 *       const session = await lookUp(request.headers.get('authorization'));
 *       if (!session) throw new HTTPException(401, { message: 'Invalid API key' });
 *       return { identity: session.userId, permissions: session.scopes, org: session.org };
 *     })
 *     .on('threads', ({ user }) => ({ owner: user.identity }))
 *     .on(['threads:create', 'threads:update', 'threads:create_run'], ({ value, user }) => {
 *       value.metadata = { ...value.metadata, owner: user.identity };
 *       return { owner: user.identity };
 *     });
 *
 * Point `auth.path` of `platform.json` at the export: `"./auth.ts:auth"`. The classes have the shape of those in
 * `@langchain/langgraph-sdk/auth`; either may be used.
 */
import { STATUS_CODES } from 'node:http';

type Maybe<T> = T | null | undefined;
type Fields = Record<string, unknown>;

/**
 * Throw it from a handler to refuse the request: the client gets this status, these headers, and `message` as `detail`.
 * Any other thrown value is a fault: the client gets a 500 without details, and the server logs the cause.
 */
export class HTTPException extends Error {
  /** 400 to 599; any other status counts as a fault. */
  status: number;
  headers: Record<string, string> | [string, string][] | Headers;

  /** `message` defaults to the status's reason phrase, such as `Unauthorized` for 401. */
  constructor(
    status: number,
    options: { message?: string; headers?: HTTPException['headers']; cause?: unknown } = {},
  ) {
    super(options.message ?? STATUS_CODES[status] ?? 'Unknown error', { cause: options.cause });
    this.name = 'HTTPException';
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** The caller as handlers and graphs see it, with all further fields that `authenticate` returned. */
export interface User {
  /** The user's unique name, suited for owner filters. Never empty. */
  identity: string;
  /** Defaults to `identity`. */
  display_name: string;
  /** Defaults to an empty list. */
  permissions: string[];
  is_authenticated: boolean;
}

/**
 * The return value of `authenticate`: an identity or a user. Further fields must be plain JSON. Only graph code sees them,
 * in `config.configurable.platform_auth_user`. `is_authenticated: false` answers 401.
 */
export type AuthReturn = string | (Pick<User, 'identity'> & Partial<User>);

/** The user type that follows from the return type of `authenticate`. */
export type UserOf<T extends AuthReturn> = T extends string ? User : Omit<T, keyof User> & User;

interface RunCreation {
  thread_id?: Maybe<string>;
  assistant_id: string;
  run_id: string;
  status?: Maybe<string>;
  metadata?: Maybe<Fields>;
  multitask_strategy?: Maybe<'reject' | 'enqueue' | 'interrupt' | 'rollback'>;
  prevent_insert_if_inflight?: Maybe<boolean>;
  if_not_exists?: Maybe<'reject' | 'create'>;
  after_seconds?: Maybe<number>;
  kwargs: Fields;
}

interface AssistantFields {
  metadata?: Maybe<Fields>;
  config?: Maybe<Fields>;
  context?: unknown;
  name?: Maybe<string>;
  description?: Maybe<string>;
}

interface Page {
  limit?: Maybe<number>;
  offset?: Maybe<number>;
}

/** The authorized operations, and the `value` that the handler of each gets. */
export interface EventValues {
  'threads:create': { thread_id?: Maybe<string>; metadata?: Maybe<Fields>; if_exists?: Maybe<string> };
  'threads:read': { thread_id?: Maybe<string> };
  'threads:update': { thread_id?: Maybe<string>; metadata?: Maybe<Fields>; action?: Maybe<string> };
  'threads:delete': { thread_id?: Maybe<string>; run_id?: Maybe<string> };
  'threads:search': Page & {
    thread_id?: Maybe<string>;
    ids?: Maybe<string[]>;
    status?: Maybe<string>;
    metadata?: Maybe<Fields>;
    values?: Maybe<Fields>;
  };
  /** Covers every way of starting a run. All other access to runs is authorized as access to their thread. */
  'threads:create_run': RunCreation;
  'assistants:create': AssistantFields & {
    assistant_id?: Maybe<string>;
    graph_id: string;
    if_exists?: Maybe<string>;
  };
  'assistants:read': { assistant_id: string; metadata?: Maybe<Fields> };
  'assistants:update': AssistantFields & {
    assistant_id: string;
    graph_id?: Maybe<string>;
    version?: Maybe<number>;
  };
  'assistants:delete': { assistant_id: string };
  'assistants:search': Page & { graph_id?: Maybe<string>; metadata?: Maybe<Fields> };
  'crons:create': {
    cron_id?: Maybe<string>;
    thread_id?: Maybe<string>;
    user_id?: Maybe<string>;
    schedule: string;
    payload?: Maybe<Fields>;
    metadata?: Maybe<Fields>;
    end_time?: Maybe<string>;
  };
  'crons:read': { cron_id: string };
  'crons:update': {
    cron_id: string;
    payload?: Maybe<Fields>;
    schedule?: Maybe<string>;
    metadata?: Maybe<Fields>;
  };
  'crons:delete': { cron_id: string };
  'crons:search': Page & { assistant_id?: Maybe<string>; thread_id?: Maybe<string> };
  'store:put': { namespace: string[]; key: string; value: Fields };
  'store:get': { namespace: Maybe<string[]>; key: string };
  'store:search': Page & { namespace?: Maybe<string[]>; filter?: Maybe<Fields>; query?: Maybe<string> };
  'store:list_namespaces': Page & {
    namespace?: Maybe<string[]>;
    suffix?: Maybe<string[]>;
    max_depth?: Maybe<number>;
  };
  'store:delete': { namespace?: Maybe<string[]>; key: string };
}

/** A resource and an action, such as `threads:create`. */
export type EventName = keyof EventValues;
type Resource<E extends EventName = EventName> = E extends `${infer R}:${string}` ? R : never;
type Action<E extends EventName = EventName> = E extends `${string}:${infer A}` ? A : never;

/**
 * A key to register a handler under. Only the most specific matching handler runs: `threads:create`, then `threads`, then
 * `*:create`, then `*`. An event without a matching handler is allowed.
 */
export type HandlerKey = '*' | Resource | `*:${Action}` | EventName;

/** The events that a key covers. */
export type EventsOf<K extends HandlerKey> = K extends '*'
  ? EventName
  : K extends `*:${infer A}`
    ? Extract<EventName, `${string}:${A}`>
    : K extends Resource
      ? Extract<EventName, `${K}:${string}`>
      : Extract<EventName, K>;

/** The argument of a handler. Checking `event` narrows the type of `value`. */
export type AuthContext<E extends EventName, TUser extends User = User> = {
  [K in E]: {
    event: K;
    resource: Resource<K>;
    action: Action<K>;
    /** The operation's payload. The server uses changes made in place, such as additions to `value.metadata`. */
    value: EventValues[K];
    permissions: string[];
    user: TUser;
  };
}[E];

type Scalar = string | number | boolean | null;

/** One operator on a member. */
export interface AuthOperators {
  $eq?: Scalar | Scalar[];
  /** Equal to one of at most 10,000. */
  $in?: (Scalar | Scalar[])[];
  /** An array with the scalar, or with all the scalars. */
  $contains?: Scalar | Scalar[];
  $exists?: boolean;
  $not?: AuthOperators;
  $or?: AuthOperators[];
  $and?: AuthOperators[];
}

/**
 * Restricts an operation to resources whose metadata match every key. A scalar or an array of scalars must be equal. `$or`,
 * `$and` and `$not` combine filters, at most eight levels deep. A missing key passes `$not` and `{$exists: false}` alone.
 * `{}` restricts nothing. Any other value, including `undefined`, denies with a 500.
 */
export type AuthFilter = {
  [key: string]: Scalar | Scalar[] | AuthOperators | AuthFilter | AuthFilter[];
};

/** Nothing or `true` allows, `false` answers 403 `Not authorized`, a filter restricts the operation. */
export type AuthVerdict = void | null | undefined | boolean | AuthFilter;

/** Registers one authenticator and any number of authorization handlers. Every method returns `this`. */
export class Auth<TUser extends User = User> {
  /** @internal The registered handlers. The server recognises the object by this property's name. */
  '~handlerCache': {
    authenticate?: (request: Request) => unknown;
    callbacks?: Record<string, (context: never) => unknown>;
  } = {};

  /**
   * Registers the authenticator. It runs before every request to a non-public route, for at most 10 seconds. It returns the
   * user or throws `HTTPException`. It may consume the body: its request is a copy.
   */
  authenticate<T extends AuthReturn>(callback: (request: Request) => T | Promise<T>): Auth<UserOf<T>> {
    this['~handlerCache'].authenticate = callback;
    return this as unknown as Auth<UserOf<T>>;
  }

  /** Registers a handler for the events of `key` (see `HandlerKey`). A second handler for a key replaces the first. */
  on<K extends HandlerKey>(
    key: K | readonly K[],
    callback: (context: AuthContext<EventsOf<K>, TUser>) => AuthVerdict | Promise<AuthVerdict>,
  ): this {
    const callbacks = (this['~handlerCache'].callbacks ??= {});
    for (const each of typeof key === 'string' ? [key] : key) callbacks[each] = callback;
    return this;
  }
}
