/** Addresses of databases: `postgres://user:password@host:5432,other:5432/name?sslmode=verify-full&schema=rewound&pool=10`. */
import { Unavailable } from '../../kernel/unavailable.ts';

export interface Address {
  /** One for each host, in the order of the address. */
  readonly urls: readonly string[];
  /** Undefined: the first of the role's search path. */
  readonly schema: string | undefined;
  /** Connections at most, besides the writer's. */
  readonly pool: number;
  /** The address without its password. */
  readonly shown: string;
}

const FORM = /^(postgres(?:ql)?:\/\/)(?:([^@/?#]*)@)?([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^:[\],\s]*)(?::\d{1,5})?$/i;
const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;
const STRICT = /^(?:prefer|require|verify-ca)$/;
const DEFAULT_POOL = 10;
/** Two are for scans. */
const MIN_POOL = 3;
const MAX_POOL = 200;

const wrongIn =
  (variable: string) =>
  (what: string): Unavailable =>
    new Unavailable(`${variable}: ${what}, expected postgres://USER:PASSWORD@HOST:PORT/DATABASE`);

/** Throws `Unavailable` in one line, without the password. */
export function readAddress(text: string, variable = 'PLATFORM_DATABASE_URL'): Address {
  const wrong = wrongIn(variable);
  const [, scheme, user, hosts, path = '', query = ''] = FORM.exec(text.trim()) ?? [];
  if (scheme === undefined || hosts === undefined) throw wrong('found no address of a database');
  if (path.length < 2) throw wrong('found no name of a database');
  const parameters = new URLSearchParams(query);
  const schema = parameters.get('schema') ?? undefined;
  if (schema !== undefined && !SCHEMA.test(schema))
    throw wrong(`found the schema ${JSON.stringify(schema)}, which is no lower-case name`);
  const pool = Number(parameters.get('pool') ?? DEFAULT_POOL);
  if (!Number.isInteger(pool) || pool < MIN_POOL || pool > MAX_POOL)
    throw wrong(
      `found a pool of ${parameters.get('pool')}, which is no number from ${MIN_POOL} to ${MAX_POOL}`,
    );
  for (const own of ['schema', 'pool']) parameters.delete(own);
  // The driver takes them for this, and warns of it in many lines.
  if (STRICT.test(parameters.get('sslmode') ?? '') && !parameters.has('uselibpqcompat'))
    parameters.set('sslmode', 'verify-full');
  const rest = `${path}${parameters.size > 0 ? `?${parameters}` : ''}`;
  const urls = hosts.split(',').map((host) => {
    if (!HOST.test(host)) throw wrong(`found the host ${JSON.stringify(host)}`);
    return `${scheme}${user === undefined ? '' : `${user}@`}${host}${rest}`;
  });
  const [name] = user?.split(':') ?? [];
  return { urls, schema, pool, shown: `${scheme}${name ? `${name}@` : ''}${hosts}${path}` };
}
