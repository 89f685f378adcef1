/** Opens what exports read in the log of a data directory, beside a running server too, in one transaction. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { LogSource } from '../port/log-source.ts';
import type { ThreadSource } from '../port/thread-source.ts';
import type { EncryptionKeys } from '../sql/keyring.ts';
import { readLog } from '../sql/log-source.ts';
import { readThread } from '../sql/past/thread-source.ts';
import { openConnection, type Connection } from './connection.ts';
import { openKeyring } from './keyring.ts';
import { LOG_FILE } from './log.ts';
import { assertFormat } from './schema.ts';
import { createStatements, type Prepare } from './statements.ts';

/** Opens one thread. Throws `Unavailable` when there is no log. */
export function openThreadSource(dir: string, threadId: string, keys: EncryptionKeys = []): ThreadSource {
  const { db, prepare } = openForReading(dir, keys);
  const { runAsync: run, context } = prepare.driver;
  return { ...readThread({ context, run }, threadId), close: async () => void db.close() };
}

/** Opens the whole log. Throws `Unavailable` when there is none. */
export function openLogSource(dir: string, keys: EncryptionKeys = []): LogSource {
  const { db, prepare } = openForReading(dir, keys);
  const { runAsync: run, context } = prepare.driver;
  return {
    ...readLog({ context, run, payloadsOf: (threadId) => readThread({ context, run }, threadId).payloads() }),
    size: async () =>
      prepare('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size')
        .pluck()
        .get() as number,
    close: async () => void db.close(),
  };
}

function openForReading(dir: string, keys: EncryptionKeys): { db: Connection; prepare: Prepare } {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Unavailable(`${file} does not exist`);
  const db = openConnection(file, { readonly: true });
  try {
    assertFormat(db);
    const { coder } = openKeyring(db, keys);
    db.exec('BEGIN');
    return { db, prepare: createStatements(db, coder) };
  } catch (error) {
    db.close();
    throw error;
  }
}
