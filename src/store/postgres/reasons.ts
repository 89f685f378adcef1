/** Names what is wrong with a database, in one line that says what to change. */
import pg from 'pg';
import type { Address } from '../../kernel/database-address.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { NoHost } from './sessions.ts';

export const unusable = (address: Address, error: unknown): Unavailable =>
  new Unavailable(`${address.shown}: ${reasonOf(error, address)}`, { cause: error });

const NO_ANSWER = 'it does not answer: start the database, or check host, port and firewall';
const MIXED_UP =
  'it is behind a pooler that mixes up prepared statements: set pool_mode = session there, or use one that keeps them for ' +
  'transactions, such as PgBouncer 1.21 or later';
const NO_HOST = 'there is no such host';
const UNKNOWN_AUTHORITY =
  'its certificate is of an authority that is not known here: name the file of that one with ?sslrootcert=/path/ca.crt';

/** The keys are SQLSTATEs and codes of system errors. */
const REASONS: Readonly<Record<string, string>> = {
  '28000': 'it does not let this role in: check user, password and sslmode, and pg_hba.conf there',
  '28P01': 'the password is refused: check user and password',
  '3D000': 'there is no such database: create it',
  '3F000': 'there is no schema to create tables in: name one with ?schema=NAME',
  '42501': 'the role lacks a right: grant it, or run "rewound migrate" as a role that may create tables',
  '25006': 'it takes no writes: name the primary, or see default_transaction_read_only',
  '53100': 'its disk is full',
  '53300': 'it has no connection left: raise max_connections or CONNECTION LIMIT, or lower ?pool=N',
  ...{ '42P05': MIXED_UP, '26000': MIXED_UP },
  '55000': 'it lets no role in',
  ECONNREFUSED: 'nothing answers there: start the database, or check host and port',
  ...{ ENOTFOUND: NO_HOST, EAI_AGAIN: NO_HOST },
  ...{ ETIMEDOUT: NO_ANSWER, EHOSTUNREACH: NO_ANSWER, ENETUNREACH: NO_ANSWER },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
};

/** Errors of the driver that have no code. */
const BY_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/, 'it takes no TLS: switch it on there, or leave out sslmode'],
  [/^could not write init file/, 'it cannot write: its disk may be full'],
  [/^timeout expired/, NO_ANSWER],
  [
    /^Query read timeout/,
    'it lets connect and does not answer: a pooler needs ?pool and 3 connections (default_pool_size)',
  ],
  [/^Connection terminated/, 'it ended the connection: check that host and port are those of PostgreSQL'],
];

export function reasonOf(error: unknown, { urls }: Partial<Address> = {}): string {
  if (error instanceof NoHost)
    return error.failures
      .map(
        (failure, index) =>
          `${urls === undefined ? '' : `${new URL(urls[index]!).host}: `}${reasonOf(failure)}`,
      )
      .join('; ');
  const { code = '', message } = error as { code?: string; message: string };
  const [first] = message.split('\n') as [string];
  const reason = REASONS[code] ?? BY_MESSAGE.find(([form]) => form.test(first))?.[1] ?? first;
  return error instanceof pg.DatabaseError && code in REASONS ? `${reason} (${first})` : reason;
}
