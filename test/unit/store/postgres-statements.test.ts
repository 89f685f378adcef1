/** Writes of one transaction that become one statement, with an array for each parameter. */
import assert from 'node:assert/strict';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import { some, write, type Step, type Work } from '../../../src/store/sql/work.ts';
import { withPostgres } from '../../support/postgres.ts';
import { createRandom, seedFromEnv, type Random } from '../../support/random.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, statements for many rows on PostgreSQL');
const url = shared(test, withPostgres);

const ROUNDS = 40;
const WRITES = 60;
const ROWS = 6;

const TEXTS = ['', 'a', '"quoted", {and} \\ braces', 'NULL', 'ä€\u{1f600}', 'a\0b\u0001', '\ud800'];
const BYTES = [new Uint8Array(), new Uint8Array([0, 255, 34, 92])];

const refused = (): Error => new Error('refused');

const inserting = (table: string): string =>
  `INSERT INTO ${table} (id, n, r, t, b, p) VALUES (@id, @n, @r, @t, @b, @p)`;

/** A write about one row, in one of the shapes that the store has. */
function anyWrite(random: Random, table: string, present: Set<number>): Step {
  const id = random.int(1, ROWS);
  const about = [`row ${id}`];
  const cells = {
    n: random.pick([null, 0, -2, 2 ** 31 - 1]),
    r: random.pick([null, 0.1, -1e300]),
    t: random.pick([null, ...TEXTS]),
    b: random.pick([null, 'text', ...BYTES]),
    p: JSON.stringify(TEXTS.filter(() => random.chance(0.3))),
  };
  if (!present.has(id)) {
    present.add(id);
    return random.chance(0.5)
      ? some(`${inserting(table)} ON CONFLICT DO NOTHING`, { id, ...cells }, refused, about)
      : some(
          `INSERT INTO ${table} (id, n, r, t, b, p) SELECT @id, @n, @r, @t, @b, @p
           WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE id = @id) ON CONFLICT DO NOTHING`,
          ...([{ id, ...cells }, refused, about] as const),
        );
  }
  switch (random.int(0, 4)) {
    case 0:
      present.delete(id);
      return write(`DELETE FROM ${table} WHERE id = ?`, [id], about);
    case 1:
      return some(`SELECT 1 FROM ${table} WHERE id = ? FOR SHARE`, [id], refused, about);
    case 2:
      return some(`UPDATE ${table} SET n = ?, t = ? WHERE id = ?`, [cells.n, cells.t, id], refused, about);
    case 3:
      return write(`UPDATE ${table} SET b = ?, p = ? WHERE id = ?`, [cells.b, cells.p, id], about);
    default:
      return write(
        `${inserting(table)} ON CONFLICT (id) DO UPDATE SET r = excluded.r, t = excluded.t`,
        ...([{ id, ...cells }, about] as const),
      );
  }
}

function* workOf(steps: readonly Step[]): Work<void> {
  for (const step of steps) yield step;
}

const createTable = (session: Session, table: string): Promise<unknown> =>
  session.ask(
    `CREATE TEMPORARY TABLE ${table} (id bigint PRIMARY KEY, n integer, r double precision, t text, b bytea, p text[])`,
  );

const rowsOf = async (session: Session, table: string): Promise<string> =>
  JSON.stringify(await session.ask(`SELECT * FROM ${table} ORDER BY id`));

test('given any writes, when those of different rows are sent together, then all is as one by one', async () => {
  const session = await connect(readAddress(url()));
  const random = createRandom(seedFromEnv());
  for (const table of ['together', 'alone']) await createTable(session, table);
  const present = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const steps = Array.from({ length: WRITES }, () => anyWrite(random, 'together', present));
    // when all writes of a transaction may be joined
    await session.run(workOf(steps), 'shared');
    // and each is a statement of its own
    const single = steps.map(({ about: _, sql, ...step }) => ({
      ...{ ...step, sql: sql.replaceAll('together', 'alone') },
    }));
    await session.run(workOf(single));
    // then the rows are the same
    assert.equal(await rowsOf(session, 'together'), await rowsOf(session, 'alone'));
  }
  // and none was planned more than once
  const planned = await session.ask('SELECT statement FROM pg_prepared_statements WHERE custom_plans > 0');
  assert.deepEqual(planned, []);
  await session.end();
});

test('given many rows, when one of them is not as it has to be, then nothing is done and it is refused', async () => {
  const session = await connect(readAddress(url()));
  await createTable(session, 'rows');
  const insert = (id: number): Step =>
    some(
      `${inserting('rows')} ON CONFLICT DO NOTHING`,
      ...([{ id, n: id, r: null, t: null, b: null, p: '[]' }, refused, [`row ${id}`]] as const),
    );
  const insertIf = (id: number): Step =>
    some(
      `INSERT INTO rows (id, n, r, t, b, p) SELECT @id, @n, @r, @t, @b, @p
       WHERE NOT EXISTS (SELECT 1 FROM rows WHERE id >= @id AND id < 4)`,
      ...([{ id, n: id, r: null, t: null, b: null, p: '[]' }, refused, [`row ${id}`]] as const),
    );
  const update = (id: number): Step =>
    some('UPDATE rows SET n = -1 WHERE id = ?', [id], refused, [`row ${id}`]);
  await session.run(workOf([insert(1), insert(2), insert(3), update(3)]));
  const before = await rowsOf(session, 'rows');
  for (const steps of [
    [insert(4), insert(2), insert(5)],
    [insertIf(4), insertIf(0), insertIf(5)],
    [update(1), update(9), update(2)],
  ])
    await assert.rejects(session.run(workOf(steps)), refused());
  assert.equal(await rowsOf(session, 'rows'), before);
  await session.end();
});

test.run();
