/** Opens a log read-only, beside running servers too (R1), in one transaction: each question sees the same moment. */
import { readAddress } from '../../kernel/database-address.ts';
import { openGate } from '../../kernel/gate.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { History } from '../port/past.ts';
import { withOwnScans } from '../sql/ask.ts';
import { openCells, type Coder } from '../sql/coder.ts';
import { openKeyring, type EncryptionKeys } from '../sql/keyring.ts';
import { createPast } from '../sql/past/past.ts';
import type { Reading } from '../sql/past/reading.ts';
import type { Projection } from '../sql/projection.ts';
import type { Run } from '../sql/work.ts';
import { answers } from './ask.ts';
import { unusable } from './reasons.ts';
import { assertRights, findTables, tableBytes } from './schema.ts';
import { connect, type Session } from './sessions.ts';
import { contextOf } from './dialect.ts';

/** Limits that suit no transaction which lasts as long as its reader takes. */
const WITHOUT_LIMITS = `SELECT count(set_config(name, '0', true)) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

export async function openReading(url: string, keys: EncryptionKeys): Promise<Reading> {
  const address = readAddress(url);
  let session: Session | undefined;
  try {
    session = await connect(address);
    if (!(await session.run(findTables())))
      throw new Unavailable(
        'it has no log that the role may see: check database, ?schema=NAME and search_path',
      );
    await session.run(assertRights(undefined, 'read'));
    const { coder } = await session.run(openKeyring('it', keys, false));
    await session.ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await session.ask(WITHOUT_LIMITS);
    return readingOf(session, coder);
  } catch (error) {
    await session?.end();
    throw unusable(address, error);
  }
}

/** Reads in the transaction that the session is in. A connection runs one work at a time. */
export function readingOf(session: Session, coder: Coder): Reading {
  const gate = openGate(1);
  const run: Run = (work) => gate.enter(() => session.run(work, 'open'));
  return {
    ...{ context: contextOf(coder), run },
    ask: withOwnScans(answers(run, openCells(coder))),
    size: () => run(tableBytes()),
    close: session.end,
  };
}

/** The pairs of threads have an index, so no table has them. */
export const viewHistory = (reading: Reading, { pairs: _, ...projection }: Projection): History => ({
  ...createPast(reading, projection),
  damage: async () => undefined,
  leavesOut: 'the files of the database: data checksums and pg_amcheck are its own means for them',
});
