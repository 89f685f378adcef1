/** Addresses of databases: `postgres://user:password@host:5432,other:5432/name?sslmode=verify-full&schema=rewound&pool=10`. */

/** Whether an address of a log names a database; else it names a folder. */
export const isDatabaseUrl = (address: string): boolean => SCHEME.test(address);

export interface Address {
  /** One for each host, in the order of the address. */
  readonly urls: readonly string[];
  /** Undefined: the first of the role's search path. */
  readonly schema: string | undefined;
  /** Connections at most, besides `OWN_CONNECTIONS`. */
  readonly pool: number;
  /** The address without its password. */
  readonly shown: string;
}

const SCHEME = /^postgres(?:ql)?:\/\//i;
/** A password may contain `@`: the last one ends it. */
const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^@/?#]*)(\/[^?#@]*)?(?:\?([^#@]*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^:[\],\s]*)(?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;
const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;
const STRICT = /^(?:prefer|require|verify-ca)$/;
const DEFAULT_POOL = 10;
/** Two are for scans. */
export const MIN_POOL = 3;
const MAX_POOL = 200;
/** A server has one connection each for commits, notifications and renewals. */
export const OWN_CONNECTIONS = 3;

/** Parameters and their values; other names are refused, because a misspelt `sslmode` would connect without TLS. */
const PARAMETERS: Readonly<Record<string, RegExp>> = {
  ...{ schema: SCHEMA, pool: /./, host: /^\//, application_name: /./, options: /./ },
  sslmode: /^(?:disable|prefer|require|verify-ca|verify-full|no-verify)$/,
  ...{ ssl: /^(?:true|1|0)$/, sslcert: /./, sslkey: /./, sslrootcert: /./ },
  ...{ sslnegotiation: /^(?:direct|postgres)$/, uselibpqcompat: /^(?:true|false)$/ },
  // Without effect: they are in addresses that were made for other programs.
  ...{ target_session_attrs: /^(?:any|read-write|primary)$/, connect_timeout: /./, channel_binding: /./ },
};

const wrong = (what: string): Error =>
  new Error(`${what}, expected postgres://USER:PASSWORD@HOST:PORT/DATABASE`);

/** Throws in one line, which quotes nothing that may be of the password. */
export function readAddress(text: string): Address {
  const [, scheme, user, hosts, path = '', query = ''] = FORM.exec(text.trim()) ?? [];
  if (scheme === undefined || hosts === undefined)
    throw wrong(
      SCHEME.test(text.trim())
        ? 'found a character that must be encoded, such as %2F for / in a password'
        : 'found no address of a database',
    );
  if (path.length < 2) throw wrong('found no name of a database');
  const parameters = new URLSearchParams(query);
  for (const [name, value] of parameters) assertParameter(name, value);
  const schema = parameters.get('schema') ?? undefined;
  const pool = Number(parameters.get('pool') ?? DEFAULT_POOL);
  if (!Number.isInteger(pool) || pool < MIN_POOL || pool > MAX_POOL)
    throw wrong(
      `found a pool of ${parameters.get('pool')}, which is no number from ${MIN_POOL} to ${MAX_POOL}`,
    );
  for (const own of ['schema', 'pool']) parameters.delete(own);
  // The driver takes them for this, and warns of it in many lines.
  if (STRICT.test(parameters.get('sslmode') ?? '') && parameters.get('uselibpqcompat') !== 'true')
    parameters.set('sslmode', 'verify-full');
  const rest = `${path}${parameters.size > 0 ? `?${parameters}` : ''}`;
  const urls = hosts.split(',').map((host) => {
    const [whole, port = '1'] = HOST.exec(host) ?? [];
    if (whole === undefined || Number(port) === 0 || Number(port) > MAX_PORT)
      throw wrong('found a host or port that cannot be one');
    return `${scheme}${user === undefined ? '' : `${user}@`}${host}${rest}`;
  });
  const [name] = user?.split(':') ?? [];
  return { urls, schema, pool, shown: `${scheme}${name ? `${name}@` : ''}${hosts}${path}` };
}

/** Returns what is wrong with an address, in one line; undefined for one that is right. */
export function databaseUrlProblem(text: string): string | undefined {
  try {
    readAddress(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function assertParameter(name: string, value: string): void {
  const form = PARAMETERS[name];
  if (form === undefined)
    throw wrong(
      `found the parameter ${JSON.stringify(name)}, which is none of ${Object.keys(PARAMETERS).join(', ')}`,
    );
  if (form.test(value)) return;
  if (name === 'schema')
    throw wrong(`found the schema ${JSON.stringify(value)}, which is no lower-case name`);
  throw wrong(`found ${name}=${JSON.stringify(value)}, which a server does not know`);
}
