/** The keys of a log, by a connection to it. */
import { openKeyring as open, type EncryptionKeys, type Keyring } from '../sql/keyring.ts';
import type { Connection } from './connection.ts';
import { createStatements } from './statements.ts';

/** A connection that writes gives a new first key its number. Throws without a needed key. */
export const openKeyring = (db: Connection, keys: EncryptionKeys): Keyring =>
  createStatements(db).driver.run(open(db.name, keys, !db.readonly));
