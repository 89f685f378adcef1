/** The keys of a log, by a connection to it. */
import type { Coder } from '../sql/coder.ts';
import { openKeyring as open, type EncryptionKeys, type Keyring } from '../sql/keyring.ts';
import { useCoder, type Connection } from './connection.ts';
import { createStatements } from './statements.ts';

/** Returns the coder of a log, and registers the functions of its connection with it. Throws without a needed key. */
export function openCoder(db: Connection, keys: EncryptionKeys): Coder {
  const { coder } = openKeyring(db, keys);
  if (!coder.isPlain) useCoder(db, coder);
  return coder;
}

/** A connection that writes gives a new first key its number. */
export const openKeyring = (db: Connection, keys: EncryptionKeys): Keyring =>
  createStatements(db).driver.run(open(db.name, keys, !db.readonly));
