/**
 * The keys of an encrypted log. Each key has a number, which sealed rows name, and beside it in the log a short text
 * that only this key opens: so a missing or wrong key is found when the log is opened, and the order in which keys are
 * given means only that the first one writes.
 */
import { toCipherKey, type CipherKey } from '../../kernel/cipher.ts';
import { createCoder, PLAIN, type Coder, type NumberedKey } from './coder.ts';
import { rows, write, type Work } from './work.ts';

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

/**
 * Throws without a needed key. `log`: its name in the message. `canWrite`: a new first key gets its number. Call it where no
 * other work can give one meanwhile.
 */
export function* openKeyring(log: string, given: EncryptionKeys, canWrite: boolean): Work<Keyring> {
  const keys = given.map(toCipherKey);
  const known = (yield* readProbes()).map(({ number, probe }): NumberedKey => {
    const key = keys.find((each) => opens({ number, key: each }, probe));
    if (key !== undefined) return { number, key };
    throw new Error(
      given.length === 0
        ? `${log} is encrypted and ${VARIABLE} is not set; set it to the key that the log was written with`
        : `${log} has content under a key that ${VARIABLE} does not have (its number ${number}); ` +
            `add that key to it, behind the new one and a comma`,
    );
  });
  const [first] = keys;
  if (first === undefined) return { coder: PLAIN, newest: undefined };
  const writes =
    known.find(({ key }) => key.equals(first)) ??
    (canWrite ? yield* addKey(first, new Set(known.map(({ number }) => number))) : undefined);
  const all = writes === undefined || known.includes(writes) ? known : [...known, writes];
  return { coder: createCoder(all, writes), newest: writes?.number };
}

function* readProbes(): Work<{ number: number; probe: Buffer }[]> {
  const found: { key: string; value: string }[] = yield rows(
    `SELECT key, value FROM meta WHERE key LIKE '${PREFIX}%'`,
    [],
  );
  return found.map(({ key, value }) => ({
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

function* addKey(key: CipherKey, taken: ReadonlySet<number>): Work<NumberedKey> {
  let number = 1;
  while (taken.has(number)) number += 1;
  const added = { number, key };
  const probe = createCoder([added], added).seal(PROBE) as Buffer;
  yield write('INSERT INTO meta VALUES (?, ?)', [`${PREFIX}${number}`, probe.toString('hex')]);
  return added;
}

/** Call when no row is sealed under any other key. */
export function* dropOtherKeys(newest: number): Work<void> {
  yield write(`DELETE FROM meta WHERE key LIKE '${PREFIX}%' AND key <> ?`, [`${PREFIX}${newest}`]);
}
