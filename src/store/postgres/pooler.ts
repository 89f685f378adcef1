/**
 * Poolers between a node and its database. One that lends a connection for a transaction has to keep prepared statements by
 * their names, and keeps no settings of sessions.
 */
import pg from 'pg';
import type { Address } from './address.ts';
import { connect, type Session } from './sessions.ts';

const PID = 'SELECT pg_backend_pid() AS pid';
/** Prepared statements of that name are there already, or no longer. */
const OTHERS = /^(?:42P05|26000)$/;

/** Throws in one line when the pooler lends connections so that the log cannot use them. */
export async function assertUsable(address: Address, session: Session): Promise<void> {
  if (!session.isPooled) return;
  let other: Session | undefined;
  try {
    const [before] = await session.ask(PID);
    other = await connect(address);
    // Takes the connection of the transaction before, unless that belongs to its session.
    await other.ask('BEGIN');
    const [taken] = await other.ask(PID);
    if (taken!['pid'] !== before!['pid']) return;
    if (address.schema !== undefined)
      throw new Error(
        `it is behind a pooler of transactions, which forgets ?schema=${address.schema}: leave it out, and set search_path of the role`,
      );
    await session.ask(PID);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !OTHERS.test(error.code ?? '')) throw error;
    throw new Error(
      'it is behind a pooler that mixes up prepared statements: set pool_mode = session there, or use one that keeps ' +
        'them for transactions, such as PgBouncer 1.21 or later',
      { cause: error },
    );
  } finally {
    await other?.end();
  }
}
