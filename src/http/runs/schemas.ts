import { z } from 'zod';
import { STREAM_MODES } from '../../protocol/stream-modes.ts';
import {
  command,
  json,
  filter,
  jsonObject,
  openLimit,
  list,
  name,
  offset,
  oneOf,
  optional,
  ownMetadata,
  selectOf,
  uuid,
  withDefault,
} from '../fields.ts';
import { queryKinds } from '../query.ts';
import { budget } from './budget.ts';

const streamMode = oneOf(STREAM_MODES);
type StreamMode = z.output<typeof streamMode>;
const nodes = z.union(
  [z.literal('*'), list(name, 1000, 'expected a list of node names')],
  'expected "*" or a list of node names',
);

const checkpoint = z.object(
  {
    checkpoint_id: optional(name),
    checkpoint_ns: optional(z.string('expected a string')),
    checkpoint_map: optional(jsonObject),
  },
  'expected an object with checkpoint_id',
);

/** Config of a run, and of an assistant, whose runs merge it with their own. */
export const runConfig = z.looseObject(
  {
    configurable: optional(jsonObject),
    context: optional(jsonObject),
    metadata: optional(ownMetadata),
    tags: optional(list(z.string('expected a string'), 1000, 'expected a list of strings')),
    recursion_limit: optional(z.int('expected an integer').min(1, 'expected 1 or more')),
    timeout: optional(
      z.int('expected milliseconds, an integer').min(1, 'expected milliseconds, 1 or more'),
    ).meta({
      description:
        'Maximum duration of an attempt at the run in milliseconds; a longer attempt ends the run with status `timeout`. The limit of the server applies too.',
    }),
    budget: optional(budget),
  },
  'expected an object',
);

/** One mode or a list; an empty list counts as none. */
export const streamModes = z.union(
  [streamMode, list(streamMode, 100, 'expected a list of stream modes')],
  `expected one of ${STREAM_MODES.join(', ')}, or a list of them`,
);

export const multitaskStrategy = oneOf(['reject', 'enqueue', 'interrupt', 'rollback']);

/** Body of every request that creates a run. Unknown members are ignored. */
export const runCreate = z.object(
  {
    assistant_id: name,
    input: optional(json),
    command: optional(command),
    metadata: optional(ownMetadata),
    config: optional(runConfig),
    context: optional(jsonObject),
    strict_resume: optional(z.boolean('expected true or false')).meta({
      description:
        'Refuses an answer (`command.resume`) that names an interrupt that is not open, that names none, or that is one value for several interrupts: the run ends with the error `UnknownInterruptError`, and the thread is unchanged.',
    }),
    checkpoint: optional(checkpoint),
    checkpoint_id: optional(name),
    webhook: optional(z.string('expected a URL')),
    budget: optional(budget),
    interrupt_before: optional(nodes),
    interrupt_after: optional(nodes),
    stream_mode: withDefault(streamModes, 'values').transform((mode): StreamMode[] => [
      ...new Set(mode.length === 0 ? ['values' as const] : [mode].flat()),
    ]),
    stream_subgraphs: withDefault(z.boolean('expected true or false'), false),
    on_disconnect: withDefault(oneOf(['cancel', 'continue']), 'continue'),
    on_completion: optional(oneOf(['delete', 'keep', 'complete', 'continue'])).meta({
      description:
        'Of a stateless run: `keep` keeps its thread; otherwise the thread is deleted when the run ends. `complete` and `continue` are names of clients for `delete`.',
      default: 'delete',
    }),
    on_cancel: optional(oneOf(['keep_messages'])).meta({
      description:
        'At a cancel, the streamed part of unfinished AI messages is added to the state, with `response_metadata.stopped`.',
    }),
    multitask_strategy: withDefault(multitaskStrategy, 'enqueue'),
    if_not_exists: optional(oneOf(['reject', 'create'])).meta({
      description: 'Without effect for a stateless run, whose thread is always created.',
      default: 'reject',
    }),
    after_seconds: optional(
      z.number('expected a number').min(0, 'expected 0 or more').max(31_536_000, 'expected at most 31536000'),
    ),
    durability: optional(oneOf(['sync', 'async', 'exit'])).meta({ default: 'async' }),
    checkpoint_during: optional(z.boolean('expected true or false')).meta({
      description: 'Older form of `durability`, which wins: true is `async`, false is `exit`.',
      deprecated: true,
      default: false,
    }),
    stream_resumable: optional(z.boolean('expected true or false')).meta({
      description: 'Without effect: the frames of every run are kept.',
      default: false,
    }),
    /** Stored with the run without effect: this server does not collect feedback. */
    feedback_keys: optional(list(name, 100, 'expected a list of keys')),
    langsmith_tracer: optional(
      z.object(
        {
          project_name: optional(z.string('expected a string')),
          example_id: optional(z.string('expected a string')),
        },
        'expected an object',
      ),
    ),
  },
  'expected an object',
);

/** Stateless runs, each on its own thread. */
export const runBatch = list(runCreate, 1000, 'expected a list of runs').min(1, 'expected at least one run');

export type RunCreate = z.output<typeof runCreate>;

export const runList = z.object({
  limit: openLimit(10),
  offset,
  status: optional(oneOf(['pending', 'running', 'success', 'error', 'timeout', 'interrupted'])),
  metadata: optional(filter('part')),
  select: optional(
    selectOf([
      'run_id',
      'thread_id',
      'assistant_id',
      'created_at',
      'updated_at',
      'status',
      'metadata',
      'kwargs',
      'multitask_strategy',
      'cancel_reason',
      'error',
      'usage',
    ]),
  ),
});

/** Conditions of a list of runs that an auth handler sees and may change. */
export const runConditions = runList.pick({ metadata: true, status: true });

const keep = optional(oneOf(['messages'])).meta({
  description:
    'Adds the streamed part of unfinished AI messages to the state of the thread, with `response_metadata.stopped`.',
});

/** Selects either all runs of a status or listed runs of one thread. */
export const cancelMany = z
  .object({
    status: optional(oneOf(['pending', 'running', 'all'])),
    thread_id: optional(uuid),
    run_ids: optional(list(uuid, 1000, 'expected a list of UUIDs')),
    keep,
  })
  .refine(({ status, run_ids }) => status !== undefined || run_ids !== undefined, {
    path: ['status'],
    message: 'expected "pending", "running" or "all", or run_ids with their thread_id',
  })
  .refine(({ status, run_ids }) => status === undefined || run_ids === undefined, {
    path: ['run_ids'],
    message: 'expected either run_ids or status',
  })
  .refine(
    ({ status, thread_id, run_ids }) =>
      status !== undefined || run_ids === undefined || thread_id !== undefined,
    {
      path: ['thread_id'],
      message: 'expected the thread of the runs',
    },
  );

const action = withDefault(oneOf(['interrupt', 'rollback']), 'interrupt');

export const cancelManyQuery = z.object({ action, keep });

export const cancelQuery = z
  .object({
    wait: withDefault(z.boolean(), false),
    action,
    keep,
    /** `taken` means that another run has absorbed the run's input. */
    reason: optional(oneOf(['taken'])),
  })
  .refine(({ action, reason }) => reason === undefined || action !== 'rollback', {
    path: ['reason'],
    message: 'expected none with the action "rollback"',
  });

export const joinQuery = z.object({
  cancel_on_disconnect: withDefault(z.boolean(), false),
  stream_mode: optional(list(streamMode, 100, 'expected a list of stream modes')),
});

export type JoinQuery = z.output<typeof joinQuery>;

/** Query of requests that stream a run. */
export const streamQuery = z.object({
  stream_end: optional(z.boolean('expected true or false')).meta({
    description:
      'Whether the last event is `end`, with the run id and the status of the run; `http.stream_end` of the configuration by default.',
  }),
  namespace: optional(
    list(z.string('expected a namespace'), 100, 'expected namespaces').register(queryKinds, {
      kind: 'texts',
    }),
  ).meta({
    description:
      'Only frames of these subgraphs, without subagents that their tool calls start. May be repeated. Segments are joined by `|`; the empty namespace is the root graph.',
  }),
});

export type StreamQuery = z.output<typeof streamQuery>;

export const joinStreamQuery = joinQuery.extend({
  ...streamQuery.shape,
  checkpoint_id: optional(z.string('expected a string')).meta({
    description:
      'Checkpoint that the client has: if the run saved it, only `metadata` and the frames after it are sent. A `Last-Event-ID` other than -1 has priority.',
  }),
});

export type JoinStreamQuery = z.output<typeof joinStreamQuery>;
