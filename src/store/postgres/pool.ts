/** Lends connections, which are made when there are too few. */
import { systemClock } from '../../kernel/clock.ts';
import { LogAway } from '../port/log-failures.ts';
import { isAway, isCrowded, type Session } from './sessions.ts';

/** A caller that finds no other one with a session tries so often to make one, with so much time between. */
const MAX_TRIES_ALONE = 5;
const RETRY_MS = 100;

export interface Pool {
  /** One session of those that are free, made when there are too few. Rejects with `LogAway` while the database is away. */
  lend<T>(use: (session: Session) => Promise<T>): Promise<T>;
  /** How many wait for a session. */
  readonly waiting: number;
  close(): Promise<void>;
}

export function createPool(open: () => Promise<Session>, max: number): Pool {
  const free: Session[] = [];
  const waiting: { resolve(): void; reject(error: unknown): void }[] = [];
  const all = new Set<Session>();
  let lent = 0;
  const { after } = systemClock();
  let isClosed = false;

  async function take(): Promise<Session> {
    if (isClosed) throw closed();
    if (lent >= max) await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    else lent += 1;
    for (let triesAlone = 0; ;) {
      for (let session = free.pop(); session !== undefined; session = free.pop())
        if (!session.isLost) return session;
      try {
        return await add();
      } catch (error) {
        if (!isCrowded(error) || (lent === 1 && (triesAlone += 1) > MAX_TRIES_ALONE)) {
          const failure = away(error);
          // Those that wait would find the same, one after another.
          if ([...all].every(({ isLost }) => isLost))
            for (const { reject } of waiting.splice(0)) reject(failure);
          pass();
          throw failure;
        }
      }
      if (lent === 1) {
        // All that tried together were refused, and count until they are gone.
        await new Promise<void>((resolve) => void after(RETRY_MS, resolve));
        continue;
      }
      // The others that hold a session, or try to make one, pass theirs on.
      lent -= 1;
      await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    }
  }

  async function add(): Promise<Session> {
    const session = await open();
    if (isClosed) {
      await session.end();
      throw closed();
    }
    all.add(session);
    session.onLost(() => all.delete(session));
    return session;
  }

  /** The right to a session goes to the one that waits longest. */
  function pass(): void {
    const next = waiting.shift();
    if (next === undefined) lent -= 1;
    else next.resolve();
  }

  return {
    async lend(use) {
      const session = await take();
      try {
        return await use(session);
      } catch (error) {
        throw away(error);
      } finally {
        if (!session.isLost) free.push(session);
        pass();
      }
    },
    get waiting() {
      return waiting.length;
    },
    async close() {
      isClosed = true;
      await Promise.all([...all].map((session) => session.end()));
    },
  };
}

const closed = (): LogAway => new LogAway('the log is closed');

/** `LogAway` in the place of an error of the connection. */
const away = (error: unknown): unknown =>
  isAway(error)
    ? Object.assign(new LogAway(`the database does not answer: ${(error as Error).message}`), {
        cause: error,
      })
    : error;
