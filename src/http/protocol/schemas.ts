/** Schemas of the parameters of protocol commands. Unknown members are ignored. */
import { z } from 'zod';
import { json, jsonObject, limit, list, name, oneOf, optional, uuid } from '../fields.ts';
import { runConfig } from '../runs/schemas.ts';

const strategy = optional(oneOf(['reject', 'enqueue', 'interrupt', 'rollback']));
const segment = z.string('expected a string').max(1024, 'expected at most 1024 characters');
export const namespace = list(segment, 100, 'expected a list of names');

export const startParams = z.object({
  assistant_id: name,
  input: optional(json),
  config: optional(runConfig),
  metadata: optional(jsonObject),
  multitaskStrategy: strategy,
  multitask_strategy: strategy,
});

export const respondParams = z.object({
  strict_resume: optional(z.boolean('expected true or false')),
  update: optional(json),
  goto: optional(json),
  config: optional(runConfig),
  metadata: optional(jsonObject),
});

export const injectParams = z.object({
  namespace: optional(namespace),
  message: z.object(
    {
      role: oneOf(['user', 'system']),
      content: z.string('expected a string'),
      name: optional(name),
    },
    'expected an object with role and content',
  ),
});

export const reconnectParams = z.object({
  run_id: uuid,
  subscriptions: optional(list(segment, 100, 'expected a list of subscription ids')),
});

export const forkParams = z.object({
  checkpoint_id: name,
  input: optional(json),
  config: optional(runConfig),
});

export const stateParams = z.object({
  namespace: optional(namespace),
  keys: optional(list(name, 1000, 'expected a list of keys')),
});

export const checkpointParams = z.object({
  namespace: optional(namespace),
  limit: limit(10),
  before: optional(name),
});

export const treeParams = z.object({ run_id: optional(uuid) });

const count = optional(z.int('expected an integer of 0 or more').min(0, 'expected an integer of 0 or more'));

/** Maximum length of an event id, which contains the path of nested graphs that the event comes from. */
const MAX_EVENT_ID_CHARS = 4096;

/** Selects the protocol events of a thread: body of an event stream and parameters of a subscription. */
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

export type SubscriptionParams = z.output<typeof subscription>;
