/** The endpoint that compares two runs. */
import { z } from 'zod';
import { diffRuns } from '../../past/tell/run-diff.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json as anyJson, uuid } from '../fields.ts';
import { json, problems } from '../openapi/descriptions.ts';
import { jsonReply } from '../replies.ts';
import { id } from '../reply-fields.ts';
import { findRun } from './find-run.ts';

const tokens = z.object({ input: z.int(), output: z.int(), total: z.int() });
const tookMs = z.number().nullable().meta({ description: 'Duration in milliseconds; null when unknown.' });

const comparedRun = z
  .object({
    run_id: id,
    thread_id: id,
    graph_id: z.string(),
    status: z.enum(['pending', 'running', 'success', 'error', 'timeout', 'interrupted']),
    attempts: z.int(),
    steps: z.int(),
    took_ms: tookMs,
    tokens: tokens.nullable().meta({ description: 'Of the messages that the run added.' }),
    error: z.string().nullable(),
  })
  .meta({ id: 'ComparedRun' });

const comparedStep = z
  .object({
    graph: z.string().meta({ description: 'Node path of the subgraph; empty for the root graph.' }),
    step: z.int(),
    source: z.string(),
    nodes: z.array(z.string()).meta({ description: 'Nodes that led to the checkpoint.' }),
    took_ms: tookMs,
  })
  .nullable()
  .meta({ id: 'ComparedStep', description: 'A step; null when the run has none here.' });

const stateDifference = z
  .object({
    channel: z.string(),
    path: z.string().meta({ description: 'The first place that differs, such as `messages[2].content`.' }),
    a: anyJson.optional(),
    b: anyJson.optional(),
  })
  .meta({ id: 'StateDifference', description: 'Without `a` or `b` that run has nothing there.' });

const runDiff = z
  .object({
    equal: z.boolean(),
    a: comparedRun,
    b: comparedRun,
    first: z
      .object({
        what: z.enum(['input', 'step', 'state', 'end']),
        index: z.int().nullable().meta({ description: 'Index in `steps`; null for the input and the end.' }),
        difference: stateDifference.nullable(),
      })
      .nullable()
      .meta({ description: 'The first divergence; null when the runs are equal.' }),
    steps: z.array(z.object({ a: comparedStep, b: comparedStep })).meta({ description: 'Aligned steps.' }),
    state: z.array(stateDifference).meta({ description: 'Differences at the end, one for each channel.' }),
  })
  .meta({ id: 'RunDiff' });

export const runDiffEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/runs/diff',
    tag: 'runs',
    summary: 'Compare two runs',
    description:
      'Aligns the steps of two runs and names the first divergence, with durations and tokens side by side. Ids, ' +
      'times and durations within values are no differences.',
    query: z.object({ a: uuid, b: uuid }),
    replies: { 200: json(runDiff, 'The comparison'), ...problems(404) },
    async handle({ context, actor, query, c }) {
      const sideOf = async (runId: string) => ({
        source: context.log,
        run: await findRun({ context, actor, params: { run_id: runId }, c }, 'threads:read'),
      });
      return jsonReply(await diffRuns(await sideOf(query.a), await sideOf(query.b)));
    },
  }),
];
