import { z } from 'zod';
import { findScheduleProblem, findZoneProblem } from '../../cron/schedule.ts';
import {
  filter,
  limit,
  name,
  offset,
  oneOf,
  optional,
  ownMetadata,
  selectOf,
  sortOrder,
  uuid,
  time,
  withDefault,
} from '../fields.ts';
import { multitaskStrategy, runCreate, streamModes } from '../runs/schemas.ts';
import { CRON_SORTS } from '../../store/port/views/crons.ts';

const schedule = z.string('expected a cron expression').superRefine((text, context) => {
  const problem = findScheduleProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const timezone = z.string('expected the IANA name of a time zone').superRefine((text, context) => {
  const problem = findZoneProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** Members of a run's request that apply to a run without a connected client. */
const payload = {
  ...runCreate.pick({
    input: true,
    config: true,
    context: true,
    webhook: true,
    budget: true,
    interrupt_before: true,
    interrupt_after: true,
    stream_resumable: true,
    durability: true,
    checkpoint_during: true,
    feedback_keys: true,
    on_cancel: true,
  }).shape,
  // A patch changes only what it names, so the defaults are shown and not filled in.
  stream_mode: optional(streamModes).meta({ default: ['values'] }),
  stream_subgraphs: optional(z.boolean('expected true or false')),
  multitask_strategy: optional(multitaskStrategy),
};
export const PAYLOAD_KEYS = Object.keys(payload);

const common = {
  timezone: optional(timezone),
  metadata: optional(ownMetadata),
};
const enabled = z.boolean('expected true or false');
/** Applies to crons without a thread. */
const onRunCompleted = oneOf(['delete', 'keep']);

/** Validates the payload's members; the cron keeps them as they were sent. */
export const cronCreate = z.object(
  {
    schedule,
    assistant_id: name,
    end_time: optional(time),
    enabled: withDefault(enabled, true),
    on_run_completed: withDefault(onRunCompleted, 'delete'),
    ...common,
    ...payload,
  },
  'expected an object',
);

/** Absent and null members are not changed, except that null removes `end_time`. */
export const cronPatch = z.object(
  {
    schedule: optional(schedule),
    assistant_id: optional(name),
    end_time: time.nullish(),
    enabled: optional(enabled),
    on_run_completed: optional(onRunCompleted),
    ...common,
    ...payload,
  },
  'expected an object',
);

/** The payload after an auth handler's changes. */
export const cronPayload = z.object(payload, 'expected an object');

const filters = {
  assistant_id: optional(name),
  thread_id: optional(uuid),
  enabled: optional(enabled),
  metadata: optional(filter('part')),
};

export const cronSearch = z.object(
  {
    ...filters,
    sort_by: withDefault(oneOf(CRON_SORTS), 'created_at'),
    sort_order: sortOrder,
    limit: limit(10),
    offset,
    select: optional(
      selectOf([
        'cron_id',
        'assistant_id',
        'thread_id',
        'on_run_completed',
        'schedule',
        'timezone',
        'end_time',
        'enabled',
        'created_at',
        'updated_at',
        'next_run_date',
        'user_id',
        'payload',
        'metadata',
        'now',
      ]),
    ),
  },
  'expected an object',
);

export const cronCount = z.object(filters, 'expected an object');

/** Search conditions that an auth handler sees and may change. */
export const cronConditions = cronCount.pick({ assistant_id: true, thread_id: true, metadata: true });
