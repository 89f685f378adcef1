/**
 * The module `rewound/auth`: a project declares with it which callers are let in and what each of them may touch.
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
 * Throw it from any handler to refuse the request: the client gets this status, these headers and `message` as
 * `detail`. Everything else that a handler throws is a fault: the client gets a bare 500, the server's log the cause.
 */
export class HTTPException extends Error {
  /** 400..599; anything else counts as a fault. */
  status: number;
  headers: Record<string, string> | [string, string][] | Headers;

  /** `message` defaults to the reason phrase of the status, `Unauthorized` for 401. */
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

/** The caller as handlers and graphs see it, with whatever else `authenticate` returned. */
export interface User {
  /** Who it is; the natural value for an owner filter. Never empty. */
  identity: string;
  /** Defaults to `identity`. */
  display_name: string;
  /** Defaults to none. */
  permissions: string[];
  is_authenticated: boolean;
}

/**
 * What `authenticate` may return: the identity alone, or a user. Further fields must be plain JSON; graph code reads
 * them at `config.configurable.platform_auth_user`, and nobody else ever does. `is_authenticated: false` answers 401.
 */
export type AuthReturn = string | (Pick<User, 'identity'> & Partial<User>);

/** The user that `authenticate` makes of its return value. */
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

/** Every operation that is authorized, and the `value` its handler gets. */
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
  /** Every way of starting a run; access to a run is access to its thread. */
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

/** `threads:create`, `store:put`, …: a resource and an action. */
export type EventName = keyof EventValues;
type Resource<E extends EventName = EventName> = E extends `${infer R}:${string}` ? R : never;
type Action<E extends EventName = EventName> = E extends `${string}:${infer A}` ? A : never;

/**
 * What a handler can be registered for. Of all that fit an event, only the most specific one runs: `threads:create`,
 * then `threads`, then `*:create`, then `*`. An event that nothing fits is allowed.
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

/** What a handler gets; checking `event` narrows `value`. */
export type AuthContext<E extends EventName, TUser extends User = User> = {
  [K in E]: {
    event: K;
    resource: Resource<K>;
    action: Action<K>;
    /** The operation's payload. Change it in place (stamp `value.metadata`) and the server goes on with the change. */
    value: EventValues[K];
    permissions: string[];
    user: TUser;
  };
}[E];

type Scalar = string | number | boolean | null;

/**
 * Restricts an operation to resources whose metadata match every key: a scalar or an array of scalars (or `$eq`) must
 * be equal, `$contains` asks for an array that holds the scalar or all of the scalars. `$or` and `$and` combine filters, two levels deep.
 * `{}` restricts nothing. Anything else, `undefined` for a value included, denies with a 500.
 */
export type AuthFilter = {
  [key: string]:
    Scalar | Scalar[] | { $eq: Scalar | Scalar[] } | { $contains: Scalar | Scalar[] } | AuthFilter[];
};

/** Nothing or `true` allows, `false` answers 403 `Not authorized`, a filter allows within its bounds. */
export type AuthVerdict = void | null | undefined | boolean | AuthFilter;

/** Registers one authenticator and any number of authorization handlers; every method returns the object itself. */
export class Auth<TUser extends User = User> {
  /** @internal What the server reads; the name is the mark by which it recognises the object. */
  '~handlerCache': {
    authenticate?: (request: Request) => unknown;
    callbacks?: Record<string, (context: never) => unknown>;
  } = {};

  /**
   * Runs before every request to anything but the public routes, for at most 10 seconds. Return who is calling, or
   * throw `HTTPException`. The request is the handler's own: reading its body takes nothing from the server.
   */
  authenticate<T extends AuthReturn>(callback: (request: Request) => T | Promise<T>): Auth<UserOf<T>> {
    this['~handlerCache'].authenticate = callback;
    return this as unknown as Auth<UserOf<T>>;
  }

  /** Decides the events that `key` covers (see `HandlerKey`). Registering a key again replaces its handler. */
  on<K extends HandlerKey>(
    key: K | readonly K[],
    callback: (context: AuthContext<EventsOf<K>, TUser>) => AuthVerdict | Promise<AuthVerdict>,
  ): this {
    const callbacks = (this['~handlerCache'].callbacks ??= {});
    for (const each of typeof key === 'string' ? [key] : key) callbacks[each] = callback;
    return this;
  }
}
