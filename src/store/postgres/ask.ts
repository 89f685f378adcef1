/** Questions on a database: points on any connection, scans on few of their own, for a limited time (S3). */
import pg from 'pg';
import type { Row } from '../port/rows.ts';
import { SearchRefused } from '../port/views/views.ts';
import type { Ask, Params, Points, Scan, Walks } from '../sql/ask.ts';
import { ask, type Run, type StepParams } from '../sql/work.ts';
import { DIALECT } from './dialect.ts';
import type { Pool } from './pool.ts';
import type { Session } from './sessions.ts';

/** Rows that a question judges at once. */
const WINDOW_ROWS = 256;
const SEARCH_MS = 10_000;
const MAX_WAITING = 200;
/** The server gave up at its time limit. */
const CANCELLED = '57014';

type Open = <R extends Row>(row: R) => R;

function points(run: Run, open: Open): Points {
  const all = async <R extends Row>(sql: string, params: Params = {}): Promise<R[]> =>
    (await run(ask<R>(sql, params as StepParams))).map(open);
  return {
    dialect: DIALECT,
    all,
    get: async <R extends Row>(sql: string, params?: Params) => (await all<R>(sql, params))[0],
  };
}

/** A cursor's name by the statement that it walks: a prepared `FETCH` knows the columns of one statement alone. */
const cursors = new Map<string, string>();
function cursorOf(sql: string): string {
  const known = cursors.get(sql) ?? `walked_${cursors.size}`;
  cursors.set(sql, known);
  return known;
}

/** `run`: within a transaction. */
export function answers(run: Run, open: Open): Walks {
  const within = points(run, open);
  return {
    ...within,
    async *walk<R extends Row>(sql: string, params?: Params) {
      const cursor = cursorOf(sql);
      await within.all(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, params);
      try {
        for (;;) {
          const rows = await within.all<R>(`FETCH ${WINDOW_ROWS} FROM ${cursor}`);
          yield rows;
          if (rows.length < WINDOW_ROWS) return;
        }
      } finally {
        // The transaction may have failed.
        await run(ask(`CLOSE ${cursor}`, {})).catch(() => undefined);
      }
    },
  };
}

export function createAsk(pool: Pool, scans: Pool, open: Open = (row) => row): Ask {
  async function answer<A extends readonly unknown[], R>(
    { run, ask: control }: Session,
    question: Scan<A, R>,
    args: A,
  ): Promise<R> {
    await control('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      await control("SELECT set_config('statement_timeout', @ms, true)", { ms: String(SEARCH_MS) });
      return await question.answer(answers(run, open), ...args);
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === CANCELLED)
        throw new SearchRefused('slow', SEARCH_MS);
      throw error;
    } finally {
      await control('ROLLBACK').catch(() => undefined);
    }
  }

  return {
    ...points((work) => pool.lend(({ run }) => run(work)), open),
    async scan(question, ...args) {
      if (scans.waiting >= MAX_WAITING) throw new SearchRefused('busy', SEARCH_MS);
      return scans.lend((session) => answer(session, question, args));
    },
  };
}
