/** Opens a log read-only, beside running servers too (R1), in one transaction: each question sees the same moment. */
import { openGate } from '../../kernel/gate.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { LogSource } from '../port/log-source.ts';
import type { History } from '../port/past.ts';
import type { ThreadSource } from '../port/thread-source.ts';
import { openCells, type Coder } from '../sql/coder.ts';
import { openKeyring, type EncryptionKeys } from '../sql/keyring.ts';
import { readLog } from '../sql/log-source.ts';
import { createPast } from '../sql/past/past.ts';
import { readThread } from '../sql/past/thread-source.ts';
import type { Projection } from '../sql/projection.ts';
import type { Run, WorkContext } from '../sql/work.ts';
import { readAddress } from '../../kernel/database-address.ts';
import { askWithin } from './ask.ts';
import { BYTES } from './log.ts';
import { unusable } from './reasons.ts';
import { assertRights, findTables } from './schema.ts';
import { connect, type Session } from './sessions.ts';
import { contextOf } from './shared.ts';

/** Limits that suit no transaction which lasts as long as its reader takes. */
const WITHOUT_LIMITS = `SELECT count(set_config(name, '0', true)) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

interface Reading {
  readonly context: WorkContext;
  readonly run: Run;
  readonly session: Session;
}

async function open(url: string, keys: EncryptionKeys): Promise<Reading> {
  const address = readAddress(url);
  let connected: Session | undefined;
  try {
    const session = (connected = await connect(address));
    if (!(await session.run(findTables())))
      throw new Unavailable(
        'it has no log that the role may see: check database, ?schema=NAME and search_path',
      );
    await session.run(assertRights(SCHEMA, 'read'));
    const { coder } = await session.run(openKeyring('it', keys, false));
    await session.ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await session.ask(WITHOUT_LIMITS);
    return readingOf(session, coder);
  } catch (error) {
    await connected?.end();
    throw unusable(address, error);
  }
}

/** Reads in the transaction that the session is in. A connection runs one work at a time. */
export function readingOf(session: Session, coder: Coder): Reading {
  const gate = openGate(1);
  const run: Run = (work) => gate.enter(() => session.run(work, 'open'));
  const ask: Session['ask'] = (sql, params) => gate.enter(() => session.ask(sql, params));
  return { context: contextOf(coder), run, session: { ...session, run, ask, isLost: false } };
}

export const openPast = async (url: string, projection: Projection, keys: EncryptionKeys): Promise<History> =>
  viewPast(await open(url, keys), projection);

export function viewPast({ context, run, session }: Reading, projection: Projection): History {
  const ask = askWithin(session, openCells(context.coder));
  const { pairs: _, ...derived } = projection;
  return {
    ...createPast({ context, run, ask, projection: derived }),
    damage: async () => undefined,
    leavesOut: 'the files of the database: data checksums and pg_amcheck are its own means for them',
    close: session.end,
  };
}

export async function openThreadSource(
  url: string,
  threadId: string,
  keys: EncryptionKeys,
): Promise<ThreadSource> {
  const { session, ...reader } = await open(url, keys);
  return { ...readThread(reader, threadId), close: session.end };
}

export async function openLogSource(url: string, keys: EncryptionKeys): Promise<LogSource> {
  const { session, ...reader } = await open(url, keys);
  return {
    ...readLog({ ...reader, payloadsOf: (threadId) => readThread(reader, threadId).payloads() }),
    size: async () => (await session.ask<{ bytes: number }>(BYTES))[0]!.bytes,
    close: session.end,
  };
}
