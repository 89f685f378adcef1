/** Questions on a database: points on any connection, scans on few of their own, for a limited time (S3). */
import pg from 'pg';
import type { Row } from '../port/rows.ts';
import { SearchRefused } from '../port/views/views.ts';
import { withOwnScans, type Ask, type Params, type Scan } from '../sql/ask.ts';
import { DIALECT } from './dialect.ts';
import type { Pool, Session } from './sessions.ts';

/** Rows that a question judges at once. */
const WINDOW_ROWS = 256;
const SEARCH_MS = 10_000;
const MAX_WAITING = 200;
/** The server gave up at its time limit. */
const CANCELLED = '57014';

type Lend = <T>(use: (session: Session) => Promise<T>) => Promise<T>;
type Asking = Omit<Ask, 'scan'>;
type Open = <R extends Row>(row: R) => R;

function asking(lend: Lend, open: Open, isWithinTransaction: boolean): Asking {
  const all = <R extends Row>(sql: string, params: Params = {}): Promise<R[]> =>
    lend(async (session) => (await session.ask<R>(sql, params)).map(open));
  return {
    dialect: DIALECT,
    all,
    get: async <R extends Row>(sql: string, params?: Params) => (await all<R>(sql, params))[0],
    walk<R extends Row>(sql: string, params: Params = {}): AsyncIterable<readonly R[]> {
      return walk(lend, sql, params, open as (row: Row) => R, isWithinTransaction);
    },
  };
}

/** A cursor's name by the statement that it walks: a prepared `FETCH` knows the columns of one statement alone. */
const cursors = new Map<string, string>();
function cursorOf(sql: string): string {
  const known = cursors.get(sql) ?? `walked_${cursors.size}`;
  cursors.set(sql, known);
  return known;
}

/** Holds its connection until the caller has seen enough. */
async function* walk<R extends Row>(
  lend: Lend,
  sql: string,
  params: Params,
  open: (row: Row) => R,
  isWithinTransaction: boolean,
): AsyncGenerator<readonly R[]> {
  const cursor = cursorOf(sql);
  const { session, release } = await hold(lend);
  try {
    if (!isWithinTransaction) await session.ask('BEGIN READ ONLY');
    await session.ask(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, params);
    for (;;) {
      const rows = await session.ask(`FETCH ${WINDOW_ROWS} FROM ${cursor}`);
      yield rows.map(open);
      if (rows.length < WINDOW_ROWS) return;
    }
  } finally {
    if (!session.isLost)
      await session.ask(isWithinTransaction ? `CLOSE ${cursor}` : 'ROLLBACK').catch(() => undefined);
    release();
  }
}

/** Lends a session for longer than one call. */
function hold(lend: Lend): Promise<{ session: Session; release: () => void }> {
  return new Promise((resolve, reject) => {
    lend((session) => new Promise<void>((release) => resolve({ session, release }))).catch(reject);
  });
}

const asIs: Open = (row) => row;

/** Asks within the transaction that the session is in. */
export const askWithin = (session: Session, open: Open): Ask =>
  withOwnScans(asking((use) => use(session), open, true));

export function createAsk(points: Pool, scans: Pool, open: Open = asIs): Ask {
  return {
    ...asking(points.lend, open, false),
    async scan<A extends readonly unknown[], R>(question: Scan<A, R>, ...args: A): Promise<R> {
      if (scans.waiting >= MAX_WAITING) throw new SearchRefused('busy', SEARCH_MS);
      return scans.lend(async (session) => {
        await session.ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        try {
          await session.ask("SELECT set_config('statement_timeout', @ms, true)", { ms: String(SEARCH_MS) });
          return await question.answer(
            asking((use) => use(session), open, true),
            ...args,
          );
        } catch (error) {
          if (error instanceof pg.DatabaseError && error.code === CANCELLED)
            throw new SearchRefused('slow', SEARCH_MS);
          throw error;
        } finally {
          if (!session.isLost) await session.ask('ROLLBACK').catch(() => undefined);
        }
      });
    },
  };
}
