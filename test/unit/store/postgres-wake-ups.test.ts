/** Two nodes on one database: what one commits reaches those who wait at the other, with hints or without. */
import assert from 'node:assert/strict';
import type { Recorded } from '../../../src/store/port/events.ts';
import type { EventLog, Notice } from '../../../src/store/port/log.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { createHintBuffer, readHint } from '../../../src/store/sql/hints.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { createHub } from '../../../src/streams/hub.ts';
import { createRunStreams } from '../../../src/streams/run-stream.ts';
import { threadStream, type ThreadEvent } from '../../../src/thread/events.ts';
import { batch, committed } from '../../support/batches.ts';
import { fact, THREAD } from '../../support/given.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withSchema } from '../../support/test-database.ts';
import { withTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const test = suite('store, nodes of one PostgreSQL');
const url = shared(test, withPostgres);

const RUN = { runId: 'run', threadId: THREAD };
const CHANNEL = "'rewound_' || md5(current_schema())";
type Hints = 'heard' | 'lost' | 'twice';

interface Nodes {
  readonly a: EventLog;
  readonly b: EventLog;
}

const withNodes = (use: (nodes: Nodes) => Promise<void>, hints: Hints = 'heard'): Promise<void> =>
  withSchema(url(), (address) => withTcpProxy(address, (relay) => withNodesAt(address, relay, hints, use)));

async function withNodesAt(
  address: string,
  relay: TcpProxy,
  hints: Hints,
  use: (nodes: Nodes) => Promise<void>,
): Promise<void> {
  const faults: unknown[] = [];
  const open = (): Promise<EventLog> =>
    openTestPostgres(address, {
      onFault: (error) => faults.push(error),
      projection,
      listenUrl: address.replace(new URL(address).host, new URL(relay.url).host),
    });
  const a = await open();
  const session = await connect(readAddress(address));
  const [row] = await session.ask<{ channel: string }>(`SELECT ${CHANNEL} AS channel`);
  if (hints === 'twice') await repeatHints(session, row!.channel);
  const b = await open();
  for (const { nodes } of [a, b]) await nodes.look(0);
  if (hints === 'lost') relay.goAway();
  else
    await until('both listen', async () => {
      const sql = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN ${row!.channel}' AND pid <> pg_backend_pid()`;
      return (await session.ask(sql)).length === 2;
    });
  try {
    await use({ a, b });
    assert.deepEqual(faults, []);
  } finally {
    await Promise.all([a.close(), b.close(), session.end()]);
  }
}

/** Sends each hint once more. */
async function repeatHints(session: Session, channel: string): Promise<void> {
  const heard = new Set<string>();
  let said: Promise<unknown> = Promise.resolve();
  session.onNotification((text) => {
    if (!heard.has(text))
      said = said
        .then(() => session.ask(`SELECT pg_notify(${CHANNEL}, @text)`, { text }))
        .catch(() => undefined);
    heard.add(text);
  });
  await session.ask(`LISTEN ${channel}`);
}

const add = async (log: EventLog, from: number, ...events: ThreadEvent[]): Promise<void> =>
  void committed(await log.commit(batch([{ stream: threadStream(THREAD), expected: from, events }])));

const begin = (log: EventLog): Promise<void> =>
  add(log, 0, fact.created(), fact.runCreated(RUN.runId), fact.started(RUN.runId));

const numbers = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${from + index}`);

async function put(log: EventLog, first: number, count: number): Promise<void> {
  const frames = numbers(first, count).map((data) => ({ event: 'custom', data }));
  committed(await log.commit(batch([], { payloads: [{ kind: 'frames', ...RUN, first, frames }] })));
}

/** The first notice that says so. */
const noticeOf = (log: EventLog, says: (notice: Notice) => boolean): Promise<Notice> =>
  new Promise((resolve) => {
    const stop = log.onCommitted((notice) => {
      if (!says(notice)) return;
      stop();
      resolve(notice);
    });
  });

const isMoved = ({ elsewhere }: Notice): boolean => elsewhere?.threads.has(THREAD) === true;

for (const hints of ['heard', 'lost', 'twice'] as const)
  test(`S2 a reader gets each frame of both nodes once and in order, hints ${hints}`, () =>
    withNodes(async ({ a, b }) => {
      await begin(a);
      const hub = createHub(b);
      const pages = createRunStreams(b, hub, createManualClock()).read(RUN, -1, new AbortController().signal);
      const texts: string[] = [];
      const read = async (upTo: number): Promise<void> => {
        while (texts.length < upTo) {
          const { value = [] } = await pages.next();
          for (const { data } of value) texts.push(data);
        }
      };
      let written = 0;
      const turns = [
        [a, 1],
        [a, 3],
        [b, 2],
        [a, 2],
        [b, 1],
      ] as const;
      for (const [node, count] of turns)
        for (let times = 0; times < 3; times++) {
          await put(node, written, count);
          written += count;
          if (times > 0) await read(written);
        }
      // Given more than is told at once, and the end
      await put(a, written, 400);
      await add(a, 3, fact.completed(RUN.runId));
      await read((written += 400));
      assert.equal((await pages.next()).done, true);
      assert.deepEqual(texts, numbers(0, written));
      hub.close();
    }, hints));

for (const hints of ['heard', 'lost'] as const)
  test(`waits on one node settle when a run starts or ends on the other, hints ${hints}`, () =>
    withNodes(async ({ a, b }) => {
      await add(a, 0, fact.created(), fact.runCreated(RUN.runId));
      const hub = createHub(b);
      const { signal } = new AbortController();
      const ended = createRunStreams(b, hub, createManualClock()).ended(RUN, signal);
      const started = (async () => {
        for (;;) {
          const next = hub.next(THREAD);
          if ((await b.views.runs.get(RUN.runId))!.startedAt !== null) return next.cancel();
          await next.woken;
        }
      })();
      await add(a, 2, fact.started(RUN.runId));
      await started;
      await add(a, 3, fact.completed(RUN.runId));
      assert.equal((await ended)!.outcome!.kind, 'success');
      assert.equal(hub.readers(), 0);
      hub.close();
    }, hints));

test('a run that one node ends is read to its last frame, which another node wrote', () =>
  withNodes(async ({ a, b }) => {
    await begin(a);
    const hub = createHub(b);
    const pages = createRunStreams(b, hub, createManualClock()).read(RUN, -1, new AbortController().signal);
    const looked = noticeOf(b, ({ frames }) => frames.has(RUN.runId));
    await put(a, 0, 1);
    assert.equal((await pages.next()).value!.length, 1);
    const rest = pages.next();
    // Given a reader that has read all there is, on a node that knows of all that has happened to the thread
    await looked;
    for (let reads = 0; reads < 5; reads++) await b.payloads.frames(RUN.runId, -1, 1);
    await put(a, 1, 1);
    await add(b, 3, fact.completed(RUN.runId));
    assert.deepEqual(
      (await rest).value!.map(({ data }: { data: string }) => data),
      ['1'],
    );
    assert.equal((await pages.next()).done, true);
    hub.close();
  }, 'lost'));

test('checkpoints that a run saves on one node wake nothing on the other', () =>
  withNodes(async ({ a, b }) => {
    await begin(a);
    const first = noticeOf(b, isMoved);
    const stop = b.follow({ threadId: THREAD });
    await first;
    let told = 0;
    b.onCommitted(() => (told += 1));
    const over = noticeOf(b, isMoved);
    for (let version = 3; version < 43; version++)
      await add(a, version, fact.saved(RUN.runId, `c${version}`));
    await add(a, 43, fact.completed(RUN.runId));
    await over;
    assert.equal(told, 1);
    stop();
  }));

test('a node hears at once of a run that is created on another and waits to be claimed', () =>
  withNodes(async ({ a, b }) => {
    const heard = noticeOf(b, ({ elsewhere }) => elsewhere?.mayStart === true);
    await add(a, 0, fact.created(), fact.runCreated(RUN.runId));
    assert.equal((await heard).elsewhere!.mayStart, true);
  }));

test('a hint that would be too long for a notification says that everything may have changed', () => {
  const facts = numbers(0, 400).map((name) => fact.updated({}, `${THREAD}-${name}`));
  const meta = { position: 1, stream: 's', version: 1, at: 0, commandId: 'c' };
  const own = createHintBuffer();
  const changedBy = (some: readonly ThreadEvent[]) => {
    const events = some.map((event) => ({ ...event, meta }) as Recorded);
    own.add({ count: 1, events, frames: new Map(), untracked: new Map() });
    const text = own.take();
    assert.ok(Buffer.byteLength(text) < 8_000 && own.isEmpty);
    return readHint(text)!.changed;
  };
  assert.equal(changedBy(facts), undefined);
  assert.equal(changedBy(facts.slice(0, 100))!.threads.size, 100);
});

test.run();
