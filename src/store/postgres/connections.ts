/** The connections of a log: told of when the database is away and when it is back, and all cut at once. */
import type { Address } from '../../kernel/database-address.ts';
import { reasonOf } from './reasons.ts';
import { connect, isCrowded, type Plans, type Session } from './sessions.ts';

export interface Connections {
  /** Rejects with what the database, or its absence, says. */
  open(plans?: Plans): Promise<Session>;
  /** Opens one for notifications. */
  listen(): Promise<Session>;
  /** Loses all of them: what waits for an answer is told at once that the database is away. */
  cut(): void;
}

interface ConnectionsOptions {
  readonly address: Address;
  readonly listenTo: Address;
  /** Hears once that the database is away, and once that it is back. */
  readonly tell: ((text: string) => void) | undefined;
}

export function createConnections({ address, listenTo, tell }: ConnectionsOptions): Connections {
  const all = new Set<Session>();
  let isTold = false;
  let isAway = false;
  let attempt: Promise<Session> | undefined;

  async function keep(connecting: Promise<Session>): Promise<Session> {
    const session = await connecting;
    all.add(session);
    session.onLost(() => all.delete(session));
    return session;
  }

  async function tryTo(plans: Plans | undefined): Promise<Session> {
    try {
      const session = await keep(connect(address, plans));
      if (isTold) tell?.(`${address.shown} answers again`);
      isTold = isAway = false;
      return session;
    } catch (error) {
      if (!isTold)
        tell?.(
          `${address.shown}: ${reasonOf(error, address)}; until then ${isCrowded(error) ? 'requests wait for a connection' : 'changes wait, and reads are refused'}`,
        );
      isTold = true;
      isAway = !isCrowded(error);
      throw error;
    }
  }

  return {
    async open(plans) {
      // One attempt at a time finds out whether the database is back: its failure is that of all that wait for it.
      while (isAway && attempt !== undefined) await attempt;
      const own = tryTo(plans);
      if (!isAway) return own;
      attempt = own;
      return own.finally(() => (attempt = undefined));
    },
    listen: () => keep(connect(listenTo)),
    cut() {
      for (const session of all) session.cut();
    },
  };
}
