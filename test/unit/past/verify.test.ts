import assert from 'node:assert/strict';
import type { Connection } from '../../../src/store/sqlite/connection.ts';
import { verify, type Verified } from '../../../src/past/verify/verify.ts';
import { ask, THREAD } from '../../support/given.ts';
import { runHere } from '../../support/command-line.ts';
import { suite } from '../../support/suite.ts';
import { withPast, type Past } from './with-past.ts';

const test = suite('past/verify');

const STREAM = `thread-${THREAD}`;

async function afterDamage(past: Past, damage: (db: Connection) => unknown): Promise<Verified> {
  past.behind(damage);
  return past.past((history) => verify(history));
}

/** The position of the n-th fact of a type on the thread, from 1. */
const positionOf = (past: Past, type: string, n = 1): number =>
  past.behind((db) =>
    Number(
      db
        .prepare('SELECT position FROM events WHERE type = ? ORDER BY position LIMIT 1 OFFSET ?')
        .pluck()
        .get(type, n - 1),
    ),
  );

interface Damage {
  readonly sql: string;
  /** The fact whose position is named, `null` when there is none to name. */
  readonly at: [type: string, n?: number] | null;
  readonly problem: RegExp;
}

const DAMAGES: Record<string, Damage> = {
  'a changed thread row': {
    sql: `UPDATE threads SET status = 'busy' WHERE thread_id = '${THREAD}'`,
    at: ['RunCompleted', 2],
    problem: /threads .* differs: live .*busy.*rebuilt .*interrupted/,
  },
  'a touched updated_at': {
    sql: `UPDATE runs SET updated_at = updated_at + 1 WHERE run_id = 'a'`,
    at: ['RunCompleted', 1],
    problem: /runs a differs/,
  },
  'a changed delivery row': {
    sql: 'UPDATE deliveries SET next_at = 1',
    at: ['WebhookDelivered'],
    problem: /deliveries .* differs/,
  },
  'a missing run row': {
    sql: `DELETE FROM runs WHERE run_id = 'b'`,
    at: ['RunCompleted', 2],
    problem: /live null/,
  },
  'a row too many': {
    sql: `CREATE TEMP TABLE copy AS SELECT * FROM runs WHERE run_id = 'a';
      UPDATE copy SET run_id = 'aa'; INSERT INTO runs SELECT * FROM copy; DROP TABLE copy`,
    at: null,
    problem: /runs aa differs: .*rebuilt null/,
  },
  'a missing fact': {
    sql: `DELETE FROM events WHERE type = 'RunRequeued'`,
    at: ['RunStarted', 2],
    problem: /goes from version 4 to 6/,
  },
  'a missing last fact': {
    sql: `DELETE FROM events WHERE position = (SELECT max(position) FROM events WHERE stream = '${STREAM}')`,
    at: ['RunCancelRequested'],
    problem: /the snapshot is of version 13/,
  },
  'a missing first fact': {
    sql: `DELETE FROM events WHERE position = 1`,
    at: ['RunCreated', 2],
    problem: /goes from version 0 to 2/,
  },
  'a fact of another run': {
    sql: `UPDATE events SET data = replace(data, '"runId":"a"', '"runId":"x"') WHERE type = 'RunRequeued'`,
    at: ['RunRequeued'],
    problem: /RunRequeued cannot happen in "running"/,
  },
  'facts that changed places': {
    sql: `UPDATE events SET version = 104 WHERE stream = '${STREAM}' AND version = 4;
      UPDATE events SET version = 4 WHERE stream = '${STREAM}' AND version = 5;
      UPDATE events SET version = 5 WHERE stream = '${STREAM}' AND version = 104`,
    at: ['CheckpointSaved', 1],
    problem: /CheckpointSaved cannot happen in/,
  },
  'a fact that says something else': {
    sql: `UPDATE events SET data = replace(data, '"topic":"c"', '"topic":"x"') WHERE type = 'ThreadUpdated'`,
    at: ['RunCompleted', 2],
    problem: /the snapshot differs from the fold/,
  },
  'a changed snapshot': {
    sql: `UPDATE snapshots SET state = replace(state, '"head":"c2"', '"head":"c1"') WHERE stream = '${STREAM}'`,
    at: ['RunCompleted', 2],
    problem: /the snapshot differs from the fold/,
  },
  'a snapshot of nothing': {
    sql: `INSERT INTO snapshots VALUES ('thread-none', 1, '{}')`,
    at: null,
    problem: /thread-none: its snapshot outlived its events/,
  },
  'a missing head checkpoint': {
    sql: `DELETE FROM texts WHERE kind = 'c' AND name = 'c2'`,
    at: ['CheckpointSaved', 2],
    problem: /checkpoint c2 is missing/,
  },
};

test('R2 P2 the verification of an untouched log counts everything and finds nothing', () =>
  withPast(async (past) => {
    const { events, streams, finding } = await past.past((history) => verify(history));
    assert.equal(finding, undefined);
    assert.equal(streams, 3);
    assert.equal(events, (await past.log.readAll(0, 1_000)).length);
    await past.done(ask.createRun('c'));
    await past.done(ask.deleteThread());
    assert.equal((await past.past((history) => verify(history))).finding, undefined);
  }));

test('L2 D2 P2 P3 the verification finds every kind of damage and names its position', async () => {
  for (const [name, { sql, at, problem }] of Object.entries(DAMAGES))
    await withPast(async (past) => {
      const position = at === null ? undefined : positionOf(past, ...at);
      const { finding } = await afterDamage(past, (db) => db.exec(sql));
      assert.match(finding?.problem ?? 'nothing found', problem, name);
      assert.equal(finding?.position, position, name);
    });
});

test('rows of another version of the program are not verified, and that is no difference', () =>
  withPast(async (past) => {
    past.behind((db) => db.exec("UPDATE meta SET value = 'older' WHERE key = 'projection'"));
    await past.past((history) => assert.rejects(verify(history), /rows of this log are of version older/));
    await assert.rejects(runHere(['verify', '--data', past.dir]), { exitCode: 3 });
  }));

test.run();
