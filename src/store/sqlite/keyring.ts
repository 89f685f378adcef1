/**
 * The keys of an encrypted log. Each key has a number, which sealed rows name, and beside it in the log a short text
 * that only this key opens: so a missing or wrong key is found when the log is opened, and the order in which keys are
 * given means only that the first one writes.
 */
import { toCipherKey, type CipherKey } from '../../kernel/cipher.ts';
import { createCoder, PLAIN, type Coder, type NumberedKey } from '../sql/coder.ts';
import { useCoder, type Connection } from './connection.ts';

/** Keys in hexadecimal digits, the one that writes first. */
export type EncryptionKeys = readonly string[];

const VARIABLE = 'PLATFORM_ENCRYPTION_KEY';
const PREFIX = 'key-';
const PROBE = 'rewound';

export interface Keyring {
  readonly coder: Coder;
  /** The number of the key that writes; undefined for a log without one. */
  readonly newest: number | undefined;
}

/** Returns the coder of a log, and registers the functions of its connection with it. Throws without a needed key. */
export function openCoder(db: Connection, keys: EncryptionKeys): Coder {
  const { coder } = openKeyring(db, keys);
  if (!coder.isPlain) useCoder(db, coder);
  return coder;
}

/** A connection that writes gives a new first key its number. */
export function openKeyring(db: Connection, given: EncryptionKeys): Keyring {
  const keys = given.map(toCipherKey);
  const known = readProbes(db).map(({ number, probe }): NumberedKey => {
    const key = keys.find((each) => opens({ number, key: each }, probe));
    if (key !== undefined) return { number, key };
    throw new Error(
      given.length === 0
        ? `${db.name} is encrypted and ${VARIABLE} is not set; set it to the key that the log was written with`
        : `${db.name} has content under a key that ${VARIABLE} does not have (its number ${number}); ` +
            `add that key to it, behind the new one and a comma`,
    );
  });
  const [first] = keys;
  if (first === undefined) return { coder: PLAIN, newest: undefined };
  const writes =
    known.find(({ key }) => key.equals(first)) ??
    (db.readonly ? undefined : addKey(db, first, new Set(known.map(({ number }) => number))));
  const all = writes === undefined || known.includes(writes) ? known : [...known, writes];
  return { coder: createCoder(all, writes), newest: writes?.number };
}

function readProbes(db: Connection): { number: number; probe: Buffer }[] {
  const rows = db.prepare(`SELECT key, value FROM meta WHERE key GLOB '${PREFIX}*'`).all() as {
    key: string;
    value: string;
  }[];
  return rows.map(({ key, value }) => ({
    number: Number(key.slice(PREFIX.length)),
    probe: Buffer.from(value, 'hex'),
  }));
}

function opens(key: NumberedKey, probe: Buffer): boolean {
  try {
    return createCoder([key], key).open(probe) === PROBE;
  } catch {
    return false;
  }
}

function addKey(db: Connection, key: CipherKey, taken: ReadonlySet<number>): NumberedKey {
  let number = 1;
  while (taken.has(number)) number += 1;
  const added = { number, key };
  const probe = createCoder([added], added).seal(PROBE) as Buffer;
  db.prepare('INSERT INTO meta VALUES (?, ?)').run(`${PREFIX}${number}`, probe.toString('hex'));
  return added;
}

/** Call when no row is sealed under any other key. */
export function dropOtherKeys(db: Connection, newest: number): void {
  db.prepare(`DELETE FROM meta WHERE key GLOB '${PREFIX}*' AND key <> ?`).run(`${PREFIX}${newest}`);
}
