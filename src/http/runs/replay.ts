/** The endpoint that executes a run again, offline. */
import { z } from 'zod';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { jsonObject, list, optional, uuid, withDefault } from '../fields.ts';
import { events, problems } from '../openapi/descriptions.ts';
import { sseReply, type SentFrame } from '../sse.ts';
import { streamingReply } from '../streaming-reply.ts';
import { findRun } from './find-run.ts';

const NOT_RECORDED = JSON.stringify({ verdict: 'untried', reasons: ['the run was not recorded'] });

const ANSWERS = 'expected texts by the number of an exchange, from 1';
const NODES = 'expected a list of node names';

const replayBody = z.object({
  match: withDefault(z.enum(['exact', 'url'], 'expected "exact" or "url"'), 'exact').meta({
    description: '`url`: a request whose body differs gets the recorded answer of its URL.',
  }),
  stub: optional(list(z.string(NODES).min(1, NODES), 100, NODES)).meta({
    description: 'Nodes whose writes are taken from the log.',
  }),
  from: optional(uuid).meta({ description: 'A checkpoint of the run to start from.' }),
  set: optional(jsonObject).meta({
    description: 'Members that replace those of the input, or of the state.',
  }),
  answers: optional(z.record(z.string().regex(/^[1-9]\d{0,8}$/, ANSWERS), z.string(ANSWERS), ANSWERS)).meta({
    description: 'Bodies that replace those of recorded answers, by the number of the exchange.',
  }),
  allow_unused: withDefault(z.boolean('expected true or false'), false).meta({
    description: 'Recorded requests and store writes that are no longer made are no difference.',
  }),
});

export const runReplayEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/runs/{run_id}/replay',
    tag: 'runs',
    summary: 'Execute a run again, offline',
    description:
      'Executes the run in a process without network: its recording answers for models, tools and the store. Compares ' +
      'every checkpoint, write and frame with the log, and changes nothing. The event `started` is followed by ' +
      '`report`, a JSON object whose `verdict` is `equal`, `different` or `untried`; `closedBy` says what kept the ' +
      'code from the outside, and `reasons` what it was refused.',
    body: replayBody,
    replies: { 200: events('The report'), ...problems(404) },
    async handle({ context, actor, params, body, c }) {
      const { runId, threadId } = await findRun({ context, actor, params, c }, 'threads:read');
      const left = new AbortController();
      const request = {
        ...{ match: body.match, stub: body.stub ?? [], from: body.from, set: body.set ?? {} },
        ...{ allowUnused: body.allow_unused, answers: body.answers ?? {} },
      };
      async function* frames(): AsyncGenerator<SentFrame[]> {
        yield [{ event: 'started', data: JSON.stringify({ run_id: runId }), id: 0 }];
        const [start] = await context.log.payloads.recording(runId, 1);
        if (start === undefined) return yield [{ event: 'report', data: NOT_RECORDED, id: 1 }];
        const data = await context.reexecutions
          .report({ runId, threadId }, request, left.signal)
          .catch((error: unknown) => {
            if (!left.signal.aborted && !context.stopping.aborted) throw error;
          });
        if (data !== undefined) yield [{ event: 'report', data, id: 1 }];
      }
      return sseReply(frames(), streamingReply({ context, actor, c }, { onLeave: () => left.abort() }));
    },
  }),
];
