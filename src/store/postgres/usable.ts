/**
 * Whether a server can work with the connections that its address gives. A pooler that lends a connection for a transaction
 * has to keep prepared statements by their names, and keeps no settings of sessions.
 */
import { MIN_POOL, OWN_CONNECTIONS, type Address } from '../../kernel/database-address.ts';
import { connect, type Session } from './sessions.ts';

const PID = 'SELECT pg_backend_pid() AS pid';

/** Connections that this role may have at most, by each of the limits that there are. */
const LIMITS = `SELECT name, most FROM pg_roles, pg_database, LATERAL (VALUES
    ('max_connections', current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0)),
    ('CONNECTION LIMIT of the role', rolconnlimit), ('CONNECTION LIMIT of the database', datconnlimit)) AS limits (name, most)
  WHERE rolname = session_user AND datname = current_database() AND NOT rolsuper AND most >= 0 ORDER BY most LIMIT 1`;

/** Throws in one line when there are too few connections for one server. */
async function assertEnough({ pool }: Address, session: Session): Promise<void> {
  const [limit] = await session.ask<{ name: string; most: number }>(LIMITS);
  const most = limit === undefined ? Infinity : limit.most - OWN_CONNECTIONS;
  if (most >= pool) return;
  throw new Error(
    `a server takes ${pool + OWN_CONNECTIONS} connections (?pool=${pool} and ${OWN_CONNECTIONS} more), of which ${limit!.name} ` +
      `allows ${limit!.most}: raise it${most < MIN_POOL ? '' : `, or set ?pool=${most}`}`,
  );
}

/** Throws in one line when there are too few connections, or a pooler lends them so that the log cannot use them. */
export async function assertUsable(address: Address, session: Session): Promise<void> {
  if (!session.isPooled) return assertEnough(address, session);
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
  } finally {
    await other?.end();
  }
}
