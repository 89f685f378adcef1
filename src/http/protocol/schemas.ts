/**
 * Schemas of the parameters of protocol commands. Unknown members are refused by name, because a client cannot see that
 * they are ignored. Every member that an official client sends is known.
 */
import { z } from 'zod';
import { json, limit, list, name, oneOf, optional, uuid } from '../fields.ts';
import { multitaskStrategy, runCreate } from '../runs/schemas.ts';

/** Maximum length of the unknown members in an error message. */
const MAX_UNKNOWN_CHARS = 200;

const paramsOf = <T extends z.core.$ZodShape>(shape: T) =>
  z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `unknown members ${(keys as string[]).join(', ').slice(0, MAX_UNKNOWN_CHARS)}, expected only ` +
          Object.keys(shape).join(', ')
        : undefined,
  });

const strategy = optional(multitaskStrategy);
const segment = z.string('expected a string').max(1024, 'expected at most 1024 characters');
const namespace = list(segment, 100, 'expected a list of names');

/** Options of every command that creates a run. */
const runOptions = runCreate.pick({
  metadata: true,
  config: true,
  context: true,
  webhook: true,
  budget: true,
  interrupt_before: true,
  interrupt_after: true,
  after_seconds: true,
  durability: true,
  langsmith_tracer: true,
}).shape;

export const startParams = paramsOf({
  ...runOptions,
  ...runCreate.pick({ assistant_id: true, input: true, checkpoint: true, checkpoint_id: true }).shape,
  /** Sent by JavaScript clients before 1.10; later ones send `config.configurable.checkpoint_id`. */
  forkFrom: optional(z.object({ checkpointId: name }, 'expected an object with checkpointId')),
  /** JavaScript clients send the strategy under both names, those before 1.12 under this one. */
  multitaskStrategy: strategy,
  multitask_strategy: strategy,
});

const answer = { interrupt_id: optional(json), namespace: optional(json), response: optional(json) };

export const respondParams = paramsOf({
  ...runOptions,
  ...answer,
  responses: optional(list(paramsOf(answer), 1000, 'expected a list of responses')),
  strict_resume: optional(z.boolean('expected true or false')),
  update: optional(json),
  goto: optional(json),
});

export const injectParams = paramsOf({
  namespace: optional(namespace),
  message: z.looseObject(
    {
      role: oneOf(['user', 'system']),
      content: z.string('expected a string'),
      name: optional(name),
    },
    'expected an object with role and content',
  ),
});

/** The result of `subscription.subscribe`, which clients may send as it is. */
export const unsubscribeParams = paramsOf({
  subscription_id: optional(json),
  replayed_events: optional(json),
});

export const reconnectParams = paramsOf({
  run_id: uuid,
  /** Without effect: a subscription that is still there has missed nothing. */
  last_event_id: optional(json),
  subscriptions: optional(list(segment, 100, 'expected a list of subscription ids')),
});

export const forkParams = paramsOf({ ...runOptions, checkpoint_id: name, input: optional(json) });

export const stateParams = paramsOf({
  namespace: optional(namespace),
  keys: optional(list(name, 1000, 'expected a list of keys')),
});

export const checkpointParams = paramsOf({
  namespace: optional(namespace),
  limit: limit(10),
  before: optional(name),
});

export const treeParams = paramsOf({ run_id: optional(uuid) });

const count = optional(z.int('expected an integer of 0 or more').min(0, 'expected an integer of 0 or more'));

/** Maximum length of an event id, which contains the path of nested graphs that the event comes from. */
const MAX_EVENT_ID_CHARS = 4096;

/** Selects the protocol events of a thread: body of an event stream, in which unknown members are ignored. */
export const subscription = z.object(
  {
    channels: list(segment, 100, 'expected a list of channels').min(1, 'expected at least one channel'),
    namespaces: optional(list(namespace, 1000, 'expected a list of namespaces')),
    depth: count,
    since: count,
    since_event_id: optional(
      z.string('expected an event id').max(MAX_EVENT_ID_CHARS, 'expected an event id'),
    ),
  },
  'expected an object with channels',
);

export const subscribeParams = paramsOf(subscription.shape);
