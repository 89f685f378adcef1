import * as assert from 'node:assert/strict';
import type { DomainEvent, Recorded } from '../../../src/store/port/events.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { ask } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('store, rebuild');

const rowsOf = ({ behind }: TestThreads): unknown =>
  behind((db) =>
    [...Object.keys(projection.schema), 'thread_pairs'].map((table) => [
      table,
      db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all(),
    ]),
  );
const triggersOf = ({ behind }: TestThreads): unknown =>
  behind((db) => db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1").all());

test('P2 rows of another projection version are rebuilt at the start as they were', () =>
  withThreads(async (lent) => {
    await lent.done([ask.createThread(), ask.createRun('a'), ask.start('a')]);
    await lent.done([ask.complete('a'), ask.updateThread({ owner: 'me', tags: ['x', 'y'], n: 1 })]);
    await lent.done([ask.createRun('b')]);
    for (const [index, temporary] of [true, true, false].entries()) {
      const threadId = `00000000-0000-4000-8000-00000000000${index}`;
      const metadata = { owner: 'me', tags: ['x'] };
      await lent.threads.dispatch(threadId, [{ type: 'CreateThread', threadId, metadata, temporary }]);
      if (index !== 0) continue;
      await lent.threads.dispatch(threadId, [ask.createRun('c')]);
    }
    const [before, triggers] = [rowsOf(lent), triggersOf(lent)];
    lent.behind((db) =>
      db.exec(
        "UPDATE meta SET value = 'earlier' WHERE key = 'projection'; UPDATE threads SET status = 'idle', metadata = '{}'; DELETE FROM thread_pairs; DELETE FROM runs",
      ),
    );
    assert.notDeepEqual(rowsOf(lent), before);
    await lent.restart();
    assert.deepEqual(rowsOf(lent), before);
    assert.deepEqual(triggersOf(lent), triggers);
    await lent.done([ask.updateThread({ owner: 'you' })]);
    // A thread that a run carries is not among the pairs.
    const owners = lent.behind((db) =>
      db
        .prepare(
          `SELECT pair AS entry, count(*) AS n FROM thread_pairs WHERE pair LIKE '["owner","%' GROUP BY pair ORDER BY 1`,
        )
        .all(),
    );
    assert.deepEqual(
      owners.map((row) => ({ ...(row as object) })),
      [
        { entry: '["owner","me"]', n: 1 },
        { entry: '["owner","you"]', n: 1 },
      ],
    );
  }));

test('P2 each row belongs to one stream: its key names the thread, run, assistant, cron, item or delivery', () => {
  const content = { graphId: 'g', name: 'n', description: null, config: {}, context: {}, metadata: {} };
  const cron = { schedule: '* * * * *', payload: {}, metadata: {}, nextAt: 1, enabled: true };
  const end = { attempt: 1, remaining: 0, head: null };
  const run = { metadata: {}, threadMetadata: {}, kwargs: { config: {} }, notBefore: 0, strategy: 'enqueue' };
  const members: Record<DomainEvent['type'], object> = {
    ThreadCreated: { metadata: {}, temporary: false },
    ThreadCopied: { metadata: {}, head: null, graph: null },
    ThreadUpdated: { metadata: {} },
    ThreadImported: { metadata: {} },
    ThreadPruned: { kept: [], disarms: true, runs: ['own'] },
    ThreadDeleted: {},
    RunCreated: run,
    RunStarted: { attempt: 1, leaseId: 'l' },
    RunBegun: {},
    RunRequeued: { deaths: 0, charges: 0 },
    RunCancelRequested: { reason: 'r', action: 'interrupt' },
    CheckpointSaved: { ns: '', checkpointId: 'c' },
    StateUpdated: { head: 'c', next: [], interrupts: {} },
    RunCompleted: { ...end, outcome: { kind: 'rolled-back', reason: 'r' } },
    RunDeleted: { kept: [], head: null, left: null },
    AssistantCreated: { ...content, system: false },
    AssistantUpdated: { ...content, version: 2 },
    AssistantVersionSet: { ...content, version: 1 },
    AssistantDeleted: {},
    CronCreated: cron,
    CronUpdated: cron,
    CronFired: { nextAt: 1 },
    CronSlotPassed: { nextAt: 1, slot: 1, reason: 'r' },
    CronDeleted: {},
    ItemPut: { namespace: ['a'], key: 'k' },
    ItemRefreshed: { namespace: ['a'], key: 'k' },
    ItemDeleted: {},
    WebhookOwed: { url: 'https://example.com' },
    WebhookDelivered: { attempt: 1, status: 200 },
    WebhookAttemptFailed: { attempt: 1, status: 500, error: 'e', nextAt: null },
    WebhookRedeliveryRequested: {},
    WebhookBodyErased: {},
    WebhookOrphaned: {},
    WebhookForgotten: {},
  };
  const ids = {
    threadId: 'own',
    runId: 'own',
    assistantId: 'own',
    cronId: 'own',
    itemId: 'own',
    deliveryId: 'own',
  };
  for (const [type, data] of Object.entries(members)) {
    const meta = { stream: 's', version: 1, at: 1, position: 1, commandId: 'c' };
    const event = { type, data: { ...ids, ...data }, meta } as unknown as Recorded;
    for (const write of projection.project(event)) {
      const [, key] = Object.entries(write.op === 'put' ? write.row : write.key)[0]!;
      assert.match(String(key), /^own/, `${type}: ${JSON.stringify(write)}`);
    }
  }
});

test.run();
