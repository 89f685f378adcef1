import { z } from 'zod';
import { subscription } from '../protocol/schemas.ts';
import { events, json, nothing, ONCE } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';

const command = z.object({
  id: z.int().min(0),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

const meta = z.object({ thread_id: z.string(), applied_through_seq: z.int() });
const reply = z.union([
  z.object({ type: z.literal('success'), id: z.int(), result: z.record(z.string(), z.unknown()), meta }),
  z.object({ type: z.literal('error'), id: z.int().nullable(), error: z.string(), message: z.string() }),
]);

const EVENTS = '/threads/{thread_id}/stream/events';

export const protocolOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/threads/{thread_id}/commands',
    tag: 'protocol',
    summary: 'Carry out a command about a thread',
    description:
      '`run.start`, `input.respond`, `state.get`, `state.listCheckpoints`, `state.fork`, `agent.getTree`. A command ' +
      'that cannot be carried out is answered with an error and the status 200.',
    headers: ONCE,
    body: command,
    replies: { 200: json(reply, 'The result, or why there is none') },
  },
  {
    method: 'post',
    path: EVENTS,
    tag: 'protocol',
    summary: 'Follow the events of a thread',
    description:
      'First the events there are, then those to come, until the client leaves. The thread may come later.',
    headers: { 'Last-Event-ID': 'The last event that arrived: the stream goes on after it.' },
    body: subscription,
    replies: { 200: events('The events of all channels that were asked for') },
  },
  {
    method: 'get',
    path: EVENTS,
    tag: 'protocol',
    summary: 'Open a WebSocket for commands and events of a thread',
    replies: { 101: nothing('The connection is a WebSocket'), 426: nothing('The request was no upgrade') },
  },
];
