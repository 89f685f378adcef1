/** What a stranger asks of every operation of the interface, with all that somebody has. */
import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestServer } from '../support/with-server.ts';
import { exportedThread } from './exported.ts';
import { MISSING, say } from '../conformance/scene.ts';

export const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
/** In everything that is somebody's. */
export const canaryOf = (name: string): string => `canary-of-${name}-7c1f`;
const CANARY = canaryOf('alice');
const NONE = '00000000-0000-4000-8000-000000000001';

/** What somebody has, by its ids. */
export interface Things {
  readonly thread: string;
  /** Where a body may name a thread besides the one of the path. */
  readonly bodyThread: string;
  readonly run: string;
  readonly running: string;
  readonly checkpoint: string;
  readonly assistant: string;
  readonly cron: string;
  readonly key: string;
  readonly webhook: string;
}
export const MISSING_THINGS: Things = {
  ...{ thread: MISSING, run: NONE, running: NONE, checkpoint: MISSING, assistant: MISSING, cron: MISSING },
  ...{ key: 'missing', webhook: MISSING, bodyThread: MISSING },
};

/** Makes one of everything for this user, with the canary in all of it; `also` is the receiver of one more run. */
export async function setUp(
  s: TestServer,
  name = 'alice',
  { also }: { also?: string } = {},
): Promise<Things> {
  const CANARY = canaryOf(name);
  const send = async (method: string, path: string, body?: object) => {
    const answer = await s.request(method, path, body, as(name));
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.json;
  };
  const marked = { canary: CANARY };
  const { assistant_id: assistant } = await send('POST', '/assistants', {
    graph_id: 'echo',
    name: CANARY,
    description: CANARY,
    metadata: marked,
    context: marked,
    config: { configurable: marked, tags: [CANARY] },
  });
  await send('PATCH', `/assistants/${assistant}`, { description: `${CANARY} again` });
  const { thread_id: thread } = await send('POST', '/threads', { metadata: marked, ttl: 1000 });
  const webhook = `http://127.0.0.1:1/?token=${CANARY}`;
  const body = { assistant_id: assistant, input: say(CANARY), metadata: marked, context: marked, webhook };
  const { run_id: run } = await send('POST', `/threads/${thread}/runs`, body);
  await send('GET', `/threads/${thread}/runs/${run}/join`);
  const owed = await s.until(({ type, data }) => type === 'WebhookOwed' && data.runId === run);
  assert.ok(owed.type === 'WebhookOwed');
  const { deliveryId } = owed.data;
  await s.until(({ type, data }) => type === 'WebhookAttemptFailed' && data.deliveryId === deliveryId);
  if (also !== undefined) {
    await send('POST', '/runs/wait', { ...body, webhook: also, on_completion: 'keep' });
    // The first one that is delivered at all.
    await s.until(({ type }) => type === 'WebhookDelivered');
  }
  const { checkpoint } = await send('GET', `/threads/${thread}/state`);
  const { run_id: running } = await send('POST', `/threads/${thread}/runs`, {
    assistant_id: 'gate',
    input: say(CANARY),
    config: { configurable: { gate: join(s.dir, 'gate'), ...marked } },
  });
  await s.until(({ type, data }) => type === 'CheckpointSaved' && data.runId === running);
  const { cron_id: cron } = await send('POST', `/threads/${thread}/runs/crons`, {
    ...body,
    schedule: '0 0 1 1 *',
    webhook: `https://example.com/${CANARY}`,
  });
  const value = { owner: name, ...marked };
  await send('PUT', '/store/items', { namespace: [CANARY, 'notes'], key: CANARY, value });
  await send('PUT', '/store/items', { namespace: ['shared'], key: `${name}s`, value, ttl: 1000 });
  return {
    ...{ thread, run, running, checkpoint: checkpoint.checkpoint_id, assistant, cron, key: `${name}s` },
    ...{ webhook: deliveryId, bodyThread: thread },
  };
}

export type Ask = readonly [query: string, body?: unknown];
const NOTHING: readonly Ask[] = [['']];
const update = { values: say('mine') };
const runBodies = (it: Things): readonly Ask[] => [
  ...['reject', 'enqueue', 'interrupt', 'rollback'].flatMap((multitask_strategy): Ask[] => [
    ['', { assistant_id: 'echo', multitask_strategy }],
    ['', { assistant_id: it.assistant, multitask_strategy }],
  ]),
  ['', { assistant_id: 'echo', checkpoint: placeOf(it) }],
  ['', { assistant_id: 'echo', config: { configurable: placeOf(it) } }],
];
const placeOf = ({ bodyThread, checkpoint }: Things) => ({
  ...{ thread_id: bodyThread, checkpoint_ns: '', checkpoint_id: checkpoint },
});
export const COMMANDS = (it: Things): Record<string, object> => ({
  'run.start': { assistant_id: it.assistant, input: say('x') },
  'input.respond': { interrupt_id: 'x', response: 1, namespace: [] },
  'input.inject': { message: 'x' },
  'state.get': {},
  'state.listCheckpoints': { before: it.checkpoint },
  'state.fork': { checkpoint_id: it.checkpoint, config: { configurable: placeOf(it) } },
  'agent.getTree': { run_id: it.run },
  'subscription.unsubscribe': { subscription_id: it.run },
  'subscription.reconnect': { run_id: it.run },
  nothing: {},
});

/** What a stranger asks of every operation; those without anything of anybody in them have no entry here. */
export const REQUESTS: Record<string, (it: Things) => readonly Ask[]> = {
  'POST /assistants/search': (it) => [
    ['', {}],
    ['', { metadata: { canary: CANARY }, graph_id: 'echo' }],
    ['', { name: it.key }],
  ],
  'POST /assistants/count': () => [['', { metadata: { canary: CANARY } }]],
  'GET /assistants/{assistant_id}': () => NOTHING,
  'PATCH /assistants/{assistant_id}': () => [
    ['', {}],
    ['', { name: 'mine', metadata: { owner: 'bob' } }],
    ['', { graph_id: 'none' }],
  ],
  'DELETE /assistants/{assistant_id}': () => [[''], ['?delete_threads=true']],
  'POST /assistants/{assistant_id}/versions': () => [['', {}]],
  'POST /assistants/{assistant_id}/latest': () => [
    ['', { version: 1 }],
    ['', { version: 99 }],
  ],
  'GET /assistants/{assistant_id}/graph': () => [[''], ['?xray=true']],
  'GET /assistants/{assistant_id}/schemas': () => NOTHING,
  'GET /assistants/{assistant_id}/subgraphs': () => [[''], ['?recurse=true']],
  'GET /assistants/{assistant_id}/subgraphs/{namespace}': () => NOTHING,
  'GET /threads': (it) => [[''], [`?ids=${it.thread}`], [`?metadata={"canary":"${CANARY}"}`]],
  'POST /threads/search': (it) => [
    ['', { ids: [it.thread] }],
    ['', { metadata: { canary: CANARY, owner: 'alice' } }],
    ['', { values: say(CANARY) }],
    ['', { status: 'busy', extract: { a: 'values.messages[-1].content' } }],
  ],
  'POST /threads/count': () => [
    ['', {}],
    ['', { values: {}, status: 'busy' }],
  ],
  'POST /threads/prune': (it) =>
    ['delete', 'keep_latest'].map((strategy) => ['', { thread_ids: [it.thread], strategy }] as const),
  'POST /threads/{thread_id}/copy': () => NOTHING,
  'GET /threads/{thread_id}/storage': () => NOTHING,
  'GET /threads/{thread_id}/export': () => NOTHING,
  'GET /threads/{thread_id}': () => [[''], ['?include=ttl']],
  'PATCH /threads/{thread_id}': () => [
    ['', {}],
    ['', { metadata: { owner: 'bob' } }],
    ['', { ttl: 1 }],
  ],
  'DELETE /threads/{thread_id}': () => NOTHING,
  'GET /threads/{thread_id}/state': () => [
    [''],
    ['?subgraphs=true'],
    ['?version=3&from=0'],
    ['?version=999'],
  ],
  'GET /threads/{thread_id}/state/{checkpoint_id}': () => [[''], ['?subgraphs=true']],
  'POST /threads/{thread_id}/state/checkpoint': (it) => [
    ['', { checkpoint: { checkpoint_id: it.checkpoint } }],
    ['', { checkpoint: placeOf(it) }],
    ['', { checkpoint: { checkpoint_map: { '': it.checkpoint } }, subgraphs: true }],
  ],
  'POST /threads/{thread_id}/state': (it) => [
    ['', update],
    ['', { ...update, checkpoint_id: it.checkpoint }],
    ['', { ...update, checkpoint: placeOf(it), config: { configurable: placeOf(it) } }],
    ['', { ...update, as_node: 'echo', checkpoint: { checkpoint_id: it.checkpoint } }],
  ],
  'PATCH /threads/{thread_id}/state': () => [['', { metadata: { owner: 'bob' } }]],
  'GET /threads/{thread_id}/history': (it) => [[''], [`?before=${it.checkpoint}`]],
  'POST /threads/{thread_id}/history': (it) => [
    ['', {}],
    ['', { limit: 100, before: { configurable: { checkpoint_id: it.checkpoint } } }],
    ['', { before: { configurable: placeOf(it) }, checkpoint: placeOf(it) }],
  ],
  'POST /threads/{thread_id}/runs': runBodies,
  'POST /threads/{thread_id}/runs/stream': runBodies,
  'POST /threads/{thread_id}/runs/wait': runBodies,
  'GET /webhooks': (it) => [[''], [`?run_id=${it.run}`], [`?thread_id=${it.thread}&host=127.0.0.1:1`]],
  'GET /webhooks/{webhook_id}': () => NOTHING,
  'POST /webhooks/{webhook_id}/redeliver': () => NOTHING,
  'POST /webhooks/redeliver': (it) => [
    ['', { since: '2000-01-01' }],
    ['', { since: '2000-01-01', state: 'delivered', thread_id: it.thread, run_id: it.run }],
  ],
  'POST /runs': (it) => [['', { assistant_id: it.assistant }]],
  'POST /runs/stream': (it) => [['', { assistant_id: it.assistant }]],
  'POST /runs/wait': (it) => [['', { assistant_id: it.assistant }]],
  'POST /runs/batch': (it) => [['', [{ assistant_id: 'echo' }, { assistant_id: it.assistant }]]],
  'POST /runs/cancel': (it) => [
    ['', { run_ids: [it.run, it.running] }],
    ['?action=rollback', { thread_id: it.thread, run_ids: [it.running] }],
    ['', { thread_id: it.thread, status: 'all' }],
    ['', { status: 'all' }],
  ],
  'POST /runs/crons': (it) => [['', { assistant_id: it.assistant, schedule: '0 0 1 1 *' }]],
  'POST /threads/{thread_id}/runs/crons': () => [['', { assistant_id: 'echo', schedule: '0 0 1 1 *' }]],
  'POST /runs/crons/search': (it) => [
    ['', {}],
    ['', { thread_id: it.thread, metadata: { canary: CANARY } }],
    ['', { assistant_id: it.assistant, select: ['payload'] }],
  ],
  'POST /runs/crons/count': (it) => [
    ['', {}],
    ['', { thread_id: it.thread }],
  ],
  'GET /runs/crons/{cron_id}': () => NOTHING,
  'PATCH /runs/crons/{cron_id}': (it) => [
    ['', {}],
    ['', { metadata: { owner: 'bob' }, enabled: false }],
    ['', { assistant_id: it.assistant, schedule: '* * * * *' }],
  ],
  'DELETE /runs/crons/{cron_id}': () => NOTHING,
  'GET /threads/{thread_id}/runs': () => [[''], ['?status=success&limit=1'], [`?metadata={"canary":"x"}`]],
  'GET /threads/{thread_id}/runs/{run_id}': () => NOTHING,
  'DELETE /threads/{thread_id}/runs/{run_id}': () => NOTHING,
  'GET /threads/{thread_id}/runs/{run_id}/join': () => [[''], ['?cancel_on_disconnect=true']],
  'GET /server/verdicts': () => [['']],
  'GET /server': () => [['']],
  'POST /opened': () => [['', {}]],
  'GET /runs': (it) => [
    [''],
    ['?status=running,pending'],
    [`?after=${it.running}`],
    [`?before=${it.run}&limit=1000`],
  ],
  'GET /threads/{thread_id}/events': () => [[''], ['?before=9&limit=2']],
  'GET /runs/diff': (it) => [[`?a=${it.run}&b=${it.running}`], [`?a=${it.run}&b=${it.run}`]],
  'POST /threads/{thread_id}/runs/{run_id}/replay': () => [['', {}]],
  'GET /threads/{thread_id}/runs/{run_id}/report': () => NOTHING,
  'GET /threads/{thread_id}/runs/{run_id}/calls': () => [[''], ['?after=1&limit=1']],
  'GET /threads/{thread_id}/runs/{run_id}/exchanges': () => NOTHING,
  'GET /threads/{thread_id}/runs/{run_id}/exchanges/{n}': () => NOTHING,
  'GET /runs/{run_id}/join': () => [[''], ['?cancel_on_disconnect=true']],
  'GET /threads/{thread_id}/runs/{run_id}/stream': () => [[''], ['?cancel_on_disconnect=true']],
  'GET /runs/{run_id}/stream': () => [[''], ['?stream_mode=values']],
  'GET /threads/{thread_id}/stream': () => [[''], ['?stream_modes=run_modes,lifecycle,state_update']],
  'POST /threads/{thread_id}/runs/{run_id}/cancel': () => [[''], ['?wait=true'], ['?action=rollback']],
  'GET /store/items': (it) => [
    [`?namespace=shared&key=${it.key}`],
    [`?namespace=${CANARY}.notes&key=${CANARY}`],
  ],
  'DELETE /store/items': (it) => [['', { namespace: ['shared'], key: it.key }]],
  'PUT /store/items': (it) => [
    ['', { namespace: ['shared'], key: it.key, value: {} }],
    ['', { namespace: ['shared'], key: it.key, value: { owner: 'alice' } }],
  ],
  'POST /store/items/search': () => [
    ['', { namespace_prefix: [] }],
    ['', { namespace_prefix: ['shared'], filter: { canary: CANARY }, refresh_ttl: true }],
  ],
  'POST /store/namespaces': () => [
    ['', {}],
    ['', { prefix: [CANARY], suffix: ['notes'], max_depth: 1 }],
  ],
  'POST /threads/{thread_id}/commands': (it) =>
    Object.entries(COMMANDS(it)).map(([method, params]) => ['', { id: 1, method, params }] as const),
  'GET /threads/{thread_id}/stream/events': () => NOTHING,
};
/** Operations that make what they name unless it is there: of what is somebody else's they say only that. */
export const CREATING_REQUESTS: Record<string, (it: Things) => readonly Ask[]> = {
  'POST /threads/import': (it) => {
    const file = exportedThread(it.thread, {});
    return [
      ['', file],
      ['?new_id=true', file],
    ];
  },
};
/** Nothing of anybody's in them, or looked at on their own. */
export const OTHERS = [
  ...['/ok', '/', '/info', '/metrics', '/docs', '/openapi.json'].map((path) => `GET ${path}`),
  ...['POST /assistants', 'POST /threads', 'POST /threads/{thread_id}/stream/events'],
];

export const fill = (path: string, it: Things, run: string): string =>
  path
    .replace('{thread_id}', encoded(it.thread))
    .replace('{run_id}', encoded(run))
    .replace('{checkpoint_id}', encoded(it.checkpoint))
    .replace('{assistant_id}', encoded(it.assistant))
    .replace('{cron_id}', encoded(it.cron))
    .replace('{webhook_id}', encoded(it.webhook))
    .replace('{n}', '1')
    .replace('{namespace}', 'x');

/** No URL holds a lone surrogate: clients send the character of replacement. */
const encoded = (id: string): string => encodeURIComponent(id.toWellFormed());
