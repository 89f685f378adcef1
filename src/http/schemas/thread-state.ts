import { z } from 'zod';
import { findTextProblem, isObject, type Json } from '../../kernel/json.ts';
import { command, json, jsonObject, limit, list, name, optional, ownMetadata } from './common.ts';

/** Segments `node:<task id>` joined by `|`; empty for the thread's own state. */
const namespace = z
  .string('expected a string')
  .max(4096, 'expected at most 4096 characters')
  .superRefine((text, context) => {
    const problem = findTextProblem(text);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `expected plain text, found ${problem}` });
  });

/** Where a state is. The thread is the one of the path, whatever `thread_id` says. */
const checkpoint = z.object(
  {
    checkpoint_id: optional(name),
    checkpoint_ns: optional(namespace),
    checkpoint_map: optional(jsonObject),
  },
  'expected an object with checkpoint_id or checkpoint_ns',
);

export type CheckpointChoice = z.output<typeof checkpoint>;

/** Members of a state, and keys of its values after `values.`. What a state does not have is no mistake. */
const select = optional(list(z.string('expected a string'), 1000, 'expected a list of strings'));

/** In the query of a request. */
export const stateChoice = z.object({
  subgraphs: optional(z.boolean('expected true or false')),
  select,
});

export type StateChoice = z.output<typeof stateChoice>;

export const stateQuery = stateChoice.extend({ checkpoint: optional(checkpoint) });

const values = z.custom<Json>(
  (value) => isObject(value) || (Array.isArray(value) && value.every(isObject)),
  'expected an object, a list of objects or null',
);

export const stateUpdate = z.object(
  {
    values: optional(values),
    as_node: optional(name),
    checkpoint: optional(checkpoint),
    checkpoint_id: optional(name),
  },
  'expected an object',
);

export const statePatch = z.object({ metadata: optional(ownMetadata) }, 'expected an object');

/** A checkpoint id alone, or an object that holds one: a checkpoint, or a config with one inside. */
const before = z
  .union(
    [
      name,
      z.object({ configurable: z.object({ checkpoint_id: optional(name) }) }),
      z.object({ checkpoint_id: optional(name), configurable: z.null().optional() }),
    ],
    'expected a checkpoint id, a checkpoint or a config',
  )
  .transform((given) => {
    if (typeof given === 'string') return given;
    return given.configurable ? given.configurable.checkpoint_id : given.checkpoint_id;
  });

export const historyQuery = (byDefault: number) =>
  z.object(
    {
      limit: limit(byDefault),
      before: optional(before),
      metadata: optional(jsonObject),
      checkpoint: optional(checkpoint),
      select,
    },
    'expected an object',
  );

const update = z.object(
  { values: optional(json), command: optional(command), as_node: name },
  'expected an object with as_node',
);

/** Each of them is one checkpoint of the new thread. */
export const supersteps = list(
  z.object(
    {
      updates: list(update, 1000, 'expected a list of updates').min(1, 'expected at least one update'),
    },
    'expected an object with updates',
  ),
  10_000,
  'expected a list of supersteps',
);

export type Supersteps = z.output<typeof supersteps>;
