import { z } from 'zod';
import { findTextProblem, isObject, type Json } from '../../kernel/json.ts';
import {
  command,
  foundInstead,
  json,
  jsonObject,
  limit,
  list,
  name,
  optional,
  ownMetadata,
} from '../fields.ts';
import { isSelectable, STATE_MEMBERS } from './state-part.ts';

/** Checkpoint namespace: segments `node:<task id>` joined by `|`; empty for the thread's root graph. */
const namespace = z
  .string('expected a string')
  .max(4096, 'expected at most 4096 characters')
  .superRefine((text, context) => {
    const problem = findTextProblem(text);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `expected plain text, found ${problem}` });
  });

/** Names the checkpoint of a state. A member `thread_id` is ignored: the path names the thread. */
const checkpoint = z.object(
  {
    checkpoint_id: optional(name),
    checkpoint_ns: optional(namespace),
    checkpoint_map: optional(jsonObject),
  },
  'expected an object with checkpoint_id or checkpoint_ns',
);

export type CheckpointChoice = z.output<typeof checkpoint>;

/** Members of a state, and `values.<key>` for single values. */
const select = optional(
  list(
    z.string('expected a string').refine(isSelectable, {
      error: foundInstead(`expected one of ${STATE_MEMBERS.join(', ')} or values.<key>`),
    }),
    1000,
    'expected a list of strings',
  ),
);

/** Query of requests that read a state. */
export const stateChoice = z.object({
  subgraphs: optional(z.boolean('expected true or false')),
  select,
});

export type StateChoice = z.output<typeof stateChoice>;

const VERSION = 'expected a version of the thread, an integer from 1 on';
export const version = z.int(VERSION).min(1, VERSION);

const EARLIER = 'expected an earlier version, or 0 for the empty beginning';
/** Query of the current state, or of the state at a version. */
export const momentChoice = stateChoice
  .extend({
    version: optional(version).meta({
      description: 'The state after this event of the thread, as the log has it, without graph code.',
    }),
    from: optional(z.int(EARLIER).min(0, EARLIER)).meta({
      description: 'With `version`: tells what changed since this version, and which version wrote it.',
    }),
  })
  .superRefine(({ version: to, from }, context) => {
    if (from === undefined) return;
    if (to === undefined)
      context.addIssue({ code: 'custom', path: ['version'], message: `${VERSION}, because from is given` });
    else if (from > to) context.addIssue({ code: 'custom', path: ['from'], message: EARLIER });
  });

export const stateQuery = stateChoice.extend({ checkpoint: optional(checkpoint) });

const OBJECT = { type: 'object', additionalProperties: true } as const;
const LIST = {
  type: 'array',
  items: { anyOf: [OBJECT, { type: 'array', minItems: 2, maxItems: 2 }] },
} as const;
/** An update and the node that it is in the name of, for a copied checkpoint. */
const isPair = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && typeof value[1] === 'string';
const values = z
  .custom<Json>(
    (value) => isObject(value) || (Array.isArray(value) && (value.every(isObject) || value.every(isPair))),
    'expected an object, a list of objects, a list of [update, as_node] pairs or null',
  )
  .meta({ anyOf: [OBJECT, LIST] });

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

/** A checkpoint id, a checkpoint object, or a config with a checkpoint id in `configurable`. */
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

const historySearch = (byDefault: number) =>
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

export const historyQuery = historySearch(10);
export const historyBody = historySearch(1);
export type HistorySearch = z.output<typeof historyBody>;

const update = z
  .object(
    {
      values: optional(json),
      // An update has no question that null could answer.
      command: optional(
        command.refine(({ resume }) => resume !== null, 'expected at least one of goto, update and resume'),
      ),
      as_node: optional(name),
    },
    'expected an object with as_node',
  )
  .refine(
    (given) => Object.values(given).some((member) => member !== undefined),
    'expected at least one of as_node, values and command',
  );

/** Each superstep becomes one checkpoint of the new thread. */
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
