/**
 * Everything that strangers may ask, of a running server with one style of auth handlers: each request once for what
 * is alice's and once for what is nobody's. A1 No route is in no table. A3 The answers cannot be told apart, no byte
 * of alice's is in them, and nothing happens to what is hers.
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import type { Recorded } from '../../src/store/port/events.ts';
import type { Random } from '../support/random.ts';
import { withWebhookSink, type WebhookSink } from '../support/webhook-sink.ts';
import type { Answer, TestServer } from '../support/with-server.ts';
import { BY_ALICE, hookedOperations, judgeBodies, withHook } from './bodies.ts';
import { CUSTOM, customRoutes } from './custom.ts';
import { holdsAlices, seen } from './looks.ts';
import {
  as,
  canaryOf,
  CREATING_REQUESTS,
  fill,
  MISSING_THINGS,
  OTHERS,
  REQUESTS,
  setUp,
  type Ask,
  type Things,
} from './requests.ts';
import { askSockets, unknownCommands, type SocketQuestion } from './sockets.ts';
import { VARIANTS } from './variants.ts';

export const STYLES = [
  ...['globalExact', 'resourceExact', 'actionEqual', 'eventContains', 'resourceContainsAll', 'globalLogic'],
  ...['verdicts', 'spaces', 'malformed'],
];
export const STUDIO_KEY = 'the-studio-key';

/** How strangers call; a status is what each of them gets whatever they ask. */
const ACTORS: Record<string, { headers: Record<string, string>; status?: number }> = {
  bob: { headers: as('bob') },
  carol: { headers: as('carol') },
  thrower: { headers: as('thrower') },
  studio: { headers: { 'x-auth-scheme': 'langsmith', 'x-api-key': STUDIO_KEY } },
  nobody: { headers: {}, status: 401 },
  unknown: { headers: as('mallory'), status: 401 },
  expired: { headers: as('expired'), status: 401 },
  broken: { headers: as('broken'), status: 500 },
  keylessStudio: { headers: { 'x-auth-scheme': 'langsmith', ...as('bob') }, status: 401 },
};

/** Permits where something foreign stands among one's own things. */
const MIXED = [
  ...([
    'thread',
    'bodyThread',
    'run',
    'running',
    'checkpoint',
    'assistant',
    'cron',
    'webhook',
    'key',
  ] as const),
];

/**
 * Whoever names what is not there makes it, so here the two cannot look alike: of somebody else's the answer says what
 * it says of all that is missing, and no more.
 */
const CREATING = /PUT \/store\/items|POST \/threads\/import|own but for thread: .*"run.start"/;
const NOT_FOUND =
  /^\[409,.*exists here|^\[(404|200),.*"{\\"(detail\\":\\"Item not found\\"|type\\":\\"error\\",\\"id\\":1,\\"error\\":\\"no_such_run\\",\\"message\\":\\"Thread with ID <id> not found\\")}"\]$/;

const OPERATIONS = { ...REQUESTS, ...CREATING_REQUESTS, ...CUSTOM };

/** What bob has set off goes on while others ask. */
const IN_TIME =
  /^(Run(Started|Requeued|Completed)|CheckpointSaved|ThreadDeleted|Webhook\w+|Cron(Fired|SlotPassed))$/;

interface Case {
  readonly actor: string;
  readonly operation: string;
  readonly index: number;
  readonly which: 'run' | 'running';
  /** One's own things but for this; undefined: nothing is one's own. */
  readonly mixed: (typeof MIXED)[number] | undefined;
  /** Ids as nobody writes them. */
  readonly variant?: string;
}

export interface Outcome {
  readonly requests: number;
  readonly problems: readonly string[];
}

export interface MatrixOptions {
  readonly random?: Random;
  readonly most?: number;
  readonly mostSockets?: number;
  /** Asks everything that bob can ask with plain ids first. */
  readonly allOfBob?: boolean;
}

/** `most` cases at most, chosen by `random`; without it all of them. */
export const runMatrix = (s: TestServer, options: MatrixOptions = {}): Promise<Outcome> =>
  withWebhookSink((sink) => runAll(s, sink, options));

async function runAll(
  s: TestServer,
  sink: WebhookSink,
  { random, most = Infinity, mostSockets = Infinity, allOfBob = false }: MatrixOptions,
): Promise<Outcome> {
  const problems: string[] = [...unknownRoutes(s), ...unknownCommands()];
  const hooked = await hookedOperations(s);
  const hers = await setUp(s, 'alice', { also: sink.url(BY_ALICE) });
  const ids = Object.entries(hers).flatMap(([name, id]) => (name === 'key' ? [] : [id]));
  const alices = new Set((await s.events()).map(({ meta }) => meta.stream));
  // Where nobody but alice may do anything, nobody has anything of their own.
  const made = await s.request('POST', '/threads', {}, as('bob'));
  const his = made.status === 200 ? await setUp(s, 'bob') : undefined;
  let position = (await s.events()).at(-1)?.meta.position ?? 0;
  let requests = 0;

  const happened = async (): Promise<readonly Recorded[]> => {
    const events = await s.server.log.readAll(position, 500);
    position = events.at(-1)?.meta.position ?? position;
    return events;
  };

  async function judge({ actor, operation, index, which, mixed, variant }: Case): Promise<void> {
    const [method = '', path = ''] = operation.split(' ');
    const own = mixed === undefined ? undefined : his;
    const vary = variant === undefined ? undefined : VARIANTS[variant];
    // Fresh ids: what is nobody's becomes one's own when it is asked to be made.
    const none = { ...MISSING_THINGS, thread: randomUUID(), key: `missing-${randomUUID()}` };
    const [foreign, missing] = [hers, none].map((it) => {
      const plain: Things = own === undefined || mixed === undefined ? it : mix(own, it, mixed);
      const things = vary === undefined ? plain : varied(plain, vary);
      const [query, given]: Ask = OPERATIONS[operation]!(things)[index]!;
      const body = actor === 'bob' && hooked.has(operation) ? withHook(given, sink.url('/of-bob')) : given;
      return { things, target: fill(path, things, things[which]) + query, body };
    }) as [Prepared, Prepared];
    // With nothing foreign in it, it is the own request of its maker; without an id in it, it is in no variant.
    if (own !== undefined && textOf(foreign) === textOf(missing)) return;
    if (vary !== undefined && textOf(foreign) === textOf(missing).replaceAll(none.key, hers.key)) return;
    const { headers, status } = ACTORS[actor]!;
    const ask = ({ target, body }: Prepared): Promise<Answer> => s.request(method, target, body, headers);
    const one = await ask(foreign);
    const events = await happened();
    const other = await ask(missing);
    await happened();
    requests += 2;
    const how = `${mixed === undefined ? '' : `, own but for ${mixed}`}${variant === undefined ? '' : `, ${variant}`}`;
    const what = `${actor}${how}: ${method} ${textOf(foreign)}`;
    const words = vary === undefined ? [] : Object.values(foreign.things);
    const otherWords = vary === undefined ? [] : Object.values(missing.things);
    const [seenOne, seenOther] = [seen(one, words), seen(other, otherWords)];
    if (vary !== undefined && one.status >= 500 && his !== undefined) problems.push(`${what}: ${one.text}`);
    if (seenOne !== seenOther && !(CREATING.test(what) && NOT_FOUND.test(seenOne)))
      problems.push(`${what}: ${seenOne} for a foreign one, ${seenOther} for none`);
    if (holdsAlices(one, other)) problems.push(`${what}: tells what is alice's`);
    const told = ids.filter((id) => one.text.includes(id) && !textOf(foreign).includes(id));
    if (told.length > 0 && vary === undefined) problems.push(`${what}: tells the id ${told.join()}`);
    if (status !== undefined && one.status !== status) problems.push(`${what}: ${one.status}`);
    const touched = events.filter(
      ({ meta, type }) =>
        alices.has(meta.stream) || (actor !== 'bob' && !CREATING.test(what) && !IN_TIME.test(type)),
    );
    if (touched.length > 0) problems.push(`${what}: ${touched.map(({ type }) => type).join()}`);
    if (events.some((event) => JSON.stringify(event).includes(canaryOf('alice'))))
      problems.push(`${what}: alice's data went into events of others`);
  }

  const all = casesOf(his !== undefined);
  const some = <T>(list: T[], count: number): T[] =>
    random === undefined ? list : random.shuffle(list).slice(0, count);
  const isOfBob = ({ actor, variant }: Case): boolean => allOfBob && actor === 'bob' && variant === undefined;
  for (const each of all.filter(isOfBob)) await judge(each);
  const others = all.filter((each) => !isOfBob(each));
  for (const each of some(others, most)) await judge(each);

  for (const question of some(socketQuestions(his !== undefined), mostSockets)) {
    const asked = await askSockets(s, question, hers, his);
    requests += asked.answers * 2;
    problems.push(...asked.problems);
    const touched = (await happened()).filter(({ meta }) => alices.has(meta.stream));
    if (touched.length > 0)
      problems.push(`a socket of ${question.actor}: ${touched.map(({ type }) => type).join()}`);
  }
  problems.push(...(await judgeBodies(s, sink)));

  for (const path of ['/', '/ok', '/info', '/metrics', '/docs', '/openapi.json'])
    if (holdsAlices(await s.request('GET', path))) problems.push(`${path} tells what is alice's`);
  if (/canary-/.test(JSON.stringify(s.requests))) problems.push("the request log tells what is alice's");
  if (/canary-(secret-)?of-alice|-token/.test(inspect(s.faults, { depth: 9 })))
    problems.push("what was reported of faults tells what is alice's");
  // What she has is still as it was.
  for (const path of [
    `/threads/${hers.thread}`,
    `/assistants/${hers.assistant}`,
    `/runs/crons/${hers.cron}`,
  ]) {
    const { status, text } = await s.request('GET', path, undefined, as('alice'));
    if (status !== 200 || !text.includes(canaryOf('alice'))) problems.push(`${path} is not what it was`);
  }
  return { requests, problems };
}

interface Prepared {
  readonly things: Things;
  readonly target: string;
  readonly body: unknown;
}

const textOf = ({ target, body }: Prepared): string => `${target} ${JSON.stringify(body) ?? ''}`;

/** A thread in a body comes with a checkpoint of its own. */
const mix = (own: Things, it: Things, mixed: keyof Things): Things => ({
  ...own,
  ...(mixed === 'bodyThread' && { checkpoint: it.checkpoint }),
  [mixed]: it[mixed],
});

const varied = ({ key, ...ids }: Things, vary: (id: string) => string): Things => ({
  ...(Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, vary(id)])) as typeof ids),
  key,
});

/** Every case there is; `mixed` ones only for bob, who has things of his own. */
function casesOf(bobHasThings: boolean): Case[] {
  const cases: Case[] = [];
  for (const [operation, toAsks] of Object.entries(OPERATIONS))
    for (const index of toAsks(MISSING_THINGS).keys())
      for (const which of operation.includes('{run_id}')
        ? (['run', 'running'] as const)
        : (['run'] as const)) {
        for (const actor of Object.keys(ACTORS))
          cases.push({ actor, operation, index, which, mixed: undefined });
        if (bobHasThings)
          for (const mixed of MIXED) cases.push({ actor: 'bob', operation, index, which, mixed });
        for (const variant of which === 'run' ? Object.keys(VARIANTS) : [])
          cases.push({ actor: 'bob', operation, index, which, mixed: undefined, variant });
      }
  return cases;
}

const socketQuestions = (bobHasThings: boolean): SocketQuestion[] => [
  ...Object.entries(ACTORS).map(([actor, { headers }]) => ({ actor, headers })),
  ...(bobHasThings ? (['assistant', 'checkpoint', 'run'] as const) : []).map((mixed) => ({
    ...{ actor: 'bob', headers: as('bob'), mixed },
  })),
];

/** A1 Routes of the router that no table here knows, and the other way round. */
function unknownRoutes(s: TestServer): string[] {
  const plain = (route: string): string => route.replace(/\{\w+\}|:\w+/g, ':');
  const routes = s.server.app.routes
    .filter(({ method, path }) => method !== 'ALL' && !path.endsWith('*'))
    .map(({ method, path }) => plain(`${method} ${path}`));
  routes.push(...customRoutes().map(plain));
  const known = [...Object.keys(OPERATIONS), ...OTHERS].map(plain);
  return [
    ...routes.filter((route) => !known.includes(route)).map((route) => `${route} is in no table`),
    ...known.filter((route) => !routes.includes(route)).map((route) => `${route} is no route`),
  ];
}
