/** The endpoint that tells what a run printed, and which models and tools it called. */
import { z } from 'zod';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { readCalls, type NumberedCall } from '../../past/calls.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { limit, offset } from '../fields.ts';
import { listReply } from '../list-reply.ts';
import { json, problems } from '../openapi/descriptions.ts';
import { time } from '../reply-fields.ts';
import { findRun } from './find-run.ts';

const count = z.int().min(0);
const place = {
  sequence: z.int().min(1).meta({ description: 'Number within the run, across attempts.' }),
  attempt: z.int().min(1),
  at: time.meta({ description: 'When it was printed, or the call began.' }),
  step: z.int().nullable(),
  node: z.string().nullable().meta({ description: 'Null for code outside of nodes.' }),
  task_id: z.string().nullable(),
  checkpoint_ns: z.string().meta({ description: 'Namespace of the task, with the tasks around it.' }),
};
const called = {
  ...place,
  name: z.string().meta({ description: 'Of the tool, or of what called the model: a class, or an address.' }),
  model: z.string().nullable(),
  duration_ms: z.number(),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullable(),
  error: z.string().nullable().meta({ description: 'Name and message of what it failed with.' }),
  served: z.boolean().meta({ description: 'The answer was that of an earlier attempt.' }),
};

const runCall = z
  .discriminatedUnion('kind', [
    z.object({
      ...{ kind: z.literal('print'), ...place, stream: z.enum(['stdout', 'stderr']), text: z.string() },
      cut: count.meta({ description: 'Characters that are left out behind `text`.' }),
    }),
    z.object({ kind: z.literal('model'), ...called }),
    z.object({ kind: z.literal('tool'), ...called }),
    z.object({ kind: z.literal('cut'), ...place, prints: count, calls: count }),
  ])
  .meta({
    id: 'RunCall',
    description:
      'What a run printed (`print`), a call of a model or tool, or how much an attempt left out beyond the limit of the run (`cut`).',
  });

export const runCallEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}/calls',
    tag: 'runs',
    summary: 'List what a run printed and called',
    description:
      'Prints, and calls of models and tools, in order; of a run that goes on, up to its last commit.',
    query: z.object({
      after: offset.meta({ description: 'The `sequence` after which the page begins.' }),
      limit: limit(100),
    }),
    replies: {
      200: json(z.array(runCall), 'A page', {
        'X-Pagination-Next': 'Value of `after` for the next page; absent on the last page.',
      }),
      ...problems(404),
    },
    async handle({ query, ...request }) {
      const { runId } = await findRun(request, 'threads:read');
      const { calls, isMore } = await readCalls(request.context.log, runId, query);
      const next = isMore ? { 'X-Pagination-Next': String(calls.at(-1)!.sequence) } : {};
      return listReply(calls, async (call) => toRunCall(call), next);
    },
  }),
];

function toRunCall(call: NumberedCall): JsonObject {
  const { kind, sequence, attempt, at, step = null, node = null, ns } = call;
  const taskId = /:([^:|]+)$/.exec(ns)?.[1] ?? null;
  const shown = {
    ...{ kind, sequence, attempt, at: toTimestamp(at), step, node, task_id: taskId, checkpoint_ns: ns },
  };
  switch (call.kind) {
    case 'print':
      return { ...shown, stream: call.stream, text: call.text, cut: call.cut ?? 0 };
    case 'cut':
      return { ...shown, prints: call.prints, calls: call.calls };
    default: {
      const { name, model = null, ms, usage, error = null, served = false } = call;
      return {
        ...{ ...shown, name, model, duration_ms: ms },
        usage: usage === undefined ? null : { input_tokens: usage.input, output_tokens: usage.output },
        ...{ error, served },
      };
    }
  }
}
