/**
 * The endpoint that shows the operator the state of the server. A1 With an authentication handler of the project only
 * the studio key opens it: users are not operators.
 */
import { z } from 'zod';
import { toTimestamp } from '../../kernel/clock.ts';
import type { NodeRecord } from '../../store/port/nodes.ts';
import type { WorkerReport } from '../../workers/worker-report.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json as anyJson } from '../fields.ts';
import { json } from '../openapi/descriptions.ts';
import { jsonReply, notAuthorized } from '../replies.ts';
import { id, time } from '../reply-fields.ts';

const seconds = z.number().nullable();

const server = z
  .object({
    version: z.string(),
    started_at: time,
    development: z.boolean().meta({ description: 'True for a server that `dev` started.' }),
    graphs: z.array(z.string()),
    problems: z.array(z.object({ graph_id: z.string(), reason: z.string() })),
    warnings: z.array(z.string()),
    workers: z
      .array(
        z.object({
          pid: z.int().nullable(),
          load: z.int(),
          run_ids: z.array(id),
          memory_bytes: z.int().nullable(),
          busy: z.number().nullable().meta({ description: 'Share of time, from 0 to 1.' }),
          stalled_ms: z.number(),
        }),
      )
      .meta({ description: "Graph workers; empty when graphs run in the server's process." }),
    queue: z.object({
      pending: z.int(),
      running: z.int(),
      max_running: z.int(),
      longest_wait_secs: seconds,
      median_wait_secs: seconds,
    }),
    log: z.object({
      folder: z.string(),
      place: z
        .string()
        .meta({ description: 'Where the log is kept: its file, or its database without the password.' }),
      bytes: z.int(),
    }),
    nodes: z
      .array(z.object({ id: z.string(), since: time, renewed_at: time, self: z.boolean() }))
      .meta({ description: 'Servers that share the log and live; one for a log in files.' }),
    settings: z
      .array(z.object({ name: z.string(), value: anyJson }))
      .meta({ description: 'The configuration as the server understood it; secrets are masked.' }),
  })
  .meta({ id: 'Server' });

export const serverEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/server',
    tag: 'system',
    summary: 'Get the state of the server',
    description: 'For the operator: with an authentication handler, only the studio key opens it.',
    replies: { 200: json(server, 'Workers, queue, log, problems and configuration') },
    async handle({ context, actor }) {
      if (context.asksHandler && actor.isStudio !== true) throw notAuthorized();
      const { operation, version } = context;
      const { log } = operation;
      const { nodes } = context.log;
      const { queue } = (await context.metrics.read()).load;
      return jsonReply({
        version,
        started_at: toTimestamp(operation.startedAt),
        development: operation.isDevelopment,
        graphs: [...operation.graphIds],
        problems: operation.problems().map(({ graphId, reason }) => ({ graph_id: graphId, reason })),
        warnings: [...operation.warnings()],
        workers: operation.workers().map(toWorker),
        queue: {
          ...{ pending: queue['n_pending'], running: queue['n_running'], max_running: operation.concurrency },
          longest_wait_secs: queue['pending_runs_wait_time_max_secs'],
          median_wait_secs: queue['pending_runs_wait_time_med_secs'],
        },
        log: { folder: operation.dataDir, place: log.place, bytes: await log.bytes() },
        nodes: (await nodes.all()).map((node) => toNode(node, nodes.id)),
        settings: [...operation.settings],
      });
    },
  }),
];

const toNode = ({ id, since, renewedAt }: NodeRecord, self: string | undefined) => ({
  id,
  since: toTimestamp(since),
  renewed_at: toTimestamp(renewedAt),
  self: id === self,
});

const toWorker = ({ pid, load, runIds, memoryBytes, busyPermille, stalledMs }: WorkerReport) => ({
  ...{ pid: pid ?? null, load, run_ids: [...runIds], memory_bytes: memoryBytes ?? null },
  ...{ busy: busyPermille === undefined ? null : busyPermille / 1000, stalled_ms: stalledMs },
});
