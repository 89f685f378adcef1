/** The tables of the log, beside those that come from `sql/rows/tables.ts`. */
import { Unavailable } from '../../kernel/unavailable.ts';
import { KINDS } from '../port/kinds.ts';
import type { Row } from '../port/rows.ts';
import { carriedView } from '../sql/rows/carried-threads.ts';
import { SCHEMA, VERSION, type Table } from '../sql/rows/tables.ts';
import { SHARED } from '../sql/shared-tables.ts';
import { rows, write as step, type Step, type Work } from '../sql/work.ts';
import { toPostgres, typeOf } from './dialect.ts';
import { ID_BLOCK } from './exchange.ts';

/** Version of the tables in this file and of what their rows contain. */
const FORMAT = 1;
/** A schema has this in the place of its format while a whole log is imported into it. */
const IMPORTING = 0;

const TEXT = typeOf('text');
const CONTENT = 'data bytea NOT NULL, crc integer NOT NULL';
/** Rows of several nodes come in the order of `seq`; their ids come from blocks. */
const NUMBERED = 'id bigint PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY';
const DIFFERENCE = `bases ${TEXT}, size bigint`;

const NUMBERED_TABLES = ['events', 'texts', 'frames'];

const LOG = [
  `CREATE TABLE events (position bigint PRIMARY KEY, stream ${TEXT} NOT NULL,
    version bigint NOT NULL, type ${TEXT} NOT NULL, schema integer NOT NULL, ${CONTENT}, at bigint NOT NULL,
    command_id ${TEXT} NOT NULL, UNIQUE (stream, version))`,
  `CREATE TABLE commands (command_id ${TEXT} PRIMARY KEY, first bigint NOT NULL, last bigint NOT NULL, at bigint NOT NULL)`,
  'CREATE INDEX commands_by_age ON commands (at)',
  `CREATE TABLE snapshots (stream ${TEXT} PRIMARY KEY, version bigint NOT NULL, state bytea NOT NULL)`,
  `CREATE TABLE requests (key ${TEXT} PRIMARY KEY, digest ${TEXT} NOT NULL, run_id ${TEXT} NOT NULL,
    thread_id ${TEXT} NOT NULL, at bigint NOT NULL)`,
  'CREATE INDEX requests_by_age ON requests (at)',
];

const PAYLOADS = [
  ...NUMBERED_TABLES.map((name) => `CREATE SEQUENCE ${name}_ids INCREMENT ${ID_BLOCK}`),
  `CREATE TABLE texts (${NUMBERED}, thread bigint NOT NULL, kind ${TEXT} NOT NULL, ns ${TEXT} NOT NULL, name ${TEXT} NOT NULL,
    version ${TEXT}, run ${TEXT}, parent ${TEXT}, at bigint, last_frame bigint, parts ${TEXT}, ${DIFFERENCE}, ${CONTENT})`,
  'CREATE UNIQUE INDEX texts_by_name ON texts (thread, kind, ns, name, version)',
  "CREATE INDEX checkpoints_by_order ON texts (thread, ns, seq) WHERE kind = 'c'",
  `CREATE TABLE frames (${NUMBERED}, run ${TEXT} NOT NULL, first bigint NOT NULL, last bigint NOT NULL, thread ${TEXT},
    series ${TEXT}, at bigint NOT NULL, parts ${TEXT} NOT NULL, ${DIFFERENCE}, ${CONTENT})`,
  'CREATE UNIQUE INDEX frames_by_run ON frames (run, last)',
  'CREATE INDEX frames_by_thread ON frames (thread, series, seq) WHERE thread IS NOT NULL',
  `CREATE TABLE run_contents (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id ${TEXT} NOT NULL, thread_id ${TEXT} NOT NULL, kind ${TEXT} NOT NULL, ${CONTENT})`,
  'CREATE INDEX run_contents_by_run ON run_contents (run_id, kind)',
  'CREATE INDEX run_contents_by_thread ON run_contents (thread_id)',
  `CREATE TABLE secrets (run_id ${TEXT} PRIMARY KEY, thread_id ${TEXT} NOT NULL, ${CONTENT})`,
  `CREATE TABLE cron_secrets (cron_id ${TEXT} PRIMARY KEY, ${CONTENT})`,
  `CREATE TABLE bodies (delivery_id ${TEXT} PRIMARY KEY, thread_id ${TEXT} NOT NULL, ${CONTENT})`,
  `CREATE TABLE item_values (item_id ${TEXT} PRIMARY KEY, ${CONTENT})`,
  `CREATE TABLE item_vectors (item_id ${TEXT} NOT NULL, idx bigint NOT NULL, ${CONTENT}, PRIMARY KEY (item_id, idx))`,
  `CREATE TABLE resume_calls (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, thread_id ${TEXT} NOT NULL,
    run_id ${TEXT} NOT NULL, base ${TEXT}, ${CONTENT})`,
  'CREATE INDEX resume_calls_by_run ON resume_calls (run_id)',
  'CREATE INDEX resume_calls_by_thread ON resume_calls (thread_id)',
  `CREATE TABLE imports (storage_key ${TEXT} PRIMARY KEY, thread_id ${TEXT} NOT NULL, at bigint NOT NULL)`,
];

/** Each run changes a row of the queue several times: it is cleaned by the number of changes, not by its size. */
const UPKEEP = [
  `ALTER TABLE queue SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000, autovacuum_vacuum_cost_delay = 0)`,
];

/** Earlier releases of this format, which may run beside this one, call it. */
const FUNCTIONS = [
  `CREATE FUNCTION rewound_some(rows_ bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF rows_ = 0 THEN RAISE EXCEPTION 'no such row' USING ERRCODE = 'RW001'; END IF;
  END $$`,
];

/** All statements of a new schema; `derived`: the tables that a projection fills. */
const statementsOf = (derived: Readonly<Record<string, Table>>): string[] => [
  `CREATE TABLE meta (key ${TEXT} PRIMARY KEY, value ${TEXT} NOT NULL)`,
  ...LOG,
  ...PAYLOADS,
  ...Object.entries({ ...derived, ...SHARED }).flatMap(([name, table]) => toPostgres(name, table)),
  ...(derived === SCHEMA ? [carriedView((declared) => `NULL::${typeOf(declared)}`)] : []),
  ...UPKEEP,
  ...FUNCTIONS,
  `INSERT INTO meta VALUES ('format', '${FORMAT}'), ('rows', '${VERSION}')`,
];

/**
 * Creates what is missing, once among all that start; says whether it did. Where the tables are there it only reads, so a role
 * needs no right to create. Throws `Unavailable` for a schema of another version.
 */
export function* prepareSchema(
  derived: Readonly<Record<string, Table>> = SCHEMA,
  schema?: string,
  isImport = false,
): Work<boolean> {
  if (yield* findTables(isImport)) return false;
  yield write("SELECT pg_advisory_xact_lock(hashtextextended('rewound ' || current_database(), 0))");
  if (schema !== undefined) yield* createSchema(schema);
  if (yield* findTables(isImport)) return false;
  yield write(`DO $outer$ BEGIN EXECUTE $inner$ ${statementsOf(derived).join(';\n')} $inner$; END $outer$`);
  return true;
}

/** `CREATE SCHEMA IF NOT EXISTS` would need the right to create one where it is there. */
function* createSchema(name: string): Work<void> {
  const found: readonly Row[] = yield rows('SELECT 1 FROM pg_namespace WHERE nspname = ?', [name]);
  if (found.length === 0) yield write(`CREATE SCHEMA "${name}"`);
}

/** `to_regclass` may answer with what the connection remembers from before it waited for the lock. */
const hasTable = (name: string): string =>
  `EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE relname = '${name}' AND n.nspname = ANY(current_schemas(false)))`;

/** Whether the tables are there. Throws `Unavailable` for those of another version or program, and for half an import. */
export function* findTables(isImport = false): Work<boolean> {
  const [found]: { has_meta: number; has_events: number }[] = yield rows(
    `SELECT ${hasTable('meta')} AS has_meta, ${hasTable('events')} AS has_events`,
    [],
  );
  if (found!.has_meta === 0) {
    if (found!.has_events === 0) return false;
    throw new Unavailable('it has tables of another program: name another database or schema');
  }
  const versions: { key: string; value: string }[] = yield rows(
    "SELECT key, value FROM meta WHERE key IN ('format', 'rows')",
    [],
  );
  const saved = Object.fromEntries(versions.map(({ key, value }) => [key, Number(value)]));
  for (const [key, own] of [['format', FORMAT] as const, ['rows', Number(VERSION)] as const]) {
    const of = saved[key];
    if (of === own || (isImport && of === IMPORTING)) continue;
    if (of === IMPORTING)
      throw new Unavailable('an import of a whole log did not end; import the file again, which begins anew');
    throw new Unavailable(
      of === undefined
        ? 'it has tables of another program: name another database or schema'
        : of > own
          ? `its ${key} are of version ${of}, this release knows ${own}: start the release that wrote it, or a later one`
          : `its ${key} are of version ${of}, this release needs ${own}: start the release that wrote it`,
    );
  }
  return true;
}

/** Throws `Unavailable` for a role that may not do to the tables what a server does, or what only reads. */
export function* assertRights(
  derived: Readonly<Record<string, Table>> = SCHEMA,
  use: 'serve' | 'read' = 'serve',
): Work<void> {
  const rights = use === 'read' ? ['SELECT'] : RIGHTS;
  const [lacking]: { name: string }[] = yield rows(
    `SELECT name FROM unnest(@names::text[]) AS name, to_regclass(name) AS found
     WHERE (${rights.map((right) => `has_table_privilege(found, '${right}')`).join(' AND ')}) IS NOT TRUE
     UNION ALL SELECT name FROM unnest(@sequences::text[]) AS name 
       WHERE has_sequence_privilege(to_regclass(name), 'USAGE') IS NOT TRUE
     UNION ALL SELECT '' WHERE @use = 'serve' AND current_setting('transaction_read_only') = 'on'`,
    {
      names: JSON.stringify(['meta', ...contentTables(derived), ...Object.keys(SHARED)]),
      sequences: JSON.stringify(use === 'read' ? [] : NUMBERED_TABLES.map((name) => `${name}_ids`)),
      use,
    },
  );
  if (lacking === undefined) return;
  if (lacking.name === '')
    throw new Unavailable(
      'it takes no writes: default_transaction_read_only is on for the role or the database',
    );
  throw new Unavailable(
    `there is no "${lacking.name}", or the role lacks rights on it: grant it ${rights.join(', ')} on all tables of the schema${use === 'read' ? '' : ' and USAGE on its sequences'}`,
  );
}

const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Makes the tables for a whole log, or empties those of an import that broke. False, and nothing is done, when there are events. */
export function* beginImport(schema: string | undefined): Work<boolean> {
  yield* prepareSchema(SCHEMA, schema, true);
  const [found]: { format: string; has_events: number }[] = yield rows(
    "SELECT value AS format, EXISTS (SELECT 1 FROM events) AS has_events FROM meta WHERE key = 'format' FOR UPDATE",
    [],
  );
  if (Number(found!.format) === IMPORTING) yield write(`TRUNCATE ${contentTables(SCHEMA).join()}`);
  else if (found!.has_events !== 0) return false;
  yield write(`UPDATE meta SET value = '${IMPORTING}' WHERE key = 'format'`);
  return true;
}

/** Row ids go on behind the positions that the import brought. */
export function* completeImport(): Work<void> {
  yield rows(
    `SELECT setval('events_ids', coalesce(max(position), 0) / ${ID_BLOCK} * ${ID_BLOCK} + 1) FROM events`,
    [],
  );
  yield write(`UPDATE meta SET value = '${FORMAT}' WHERE key = 'format'`);
}

const contentTables = (derived: object): readonly string[] => [
  ...['events', 'commands', 'snapshots', 'requests', 'imports', 'queue', ...Object.keys(derived)],
  ...new Set(Object.values(KINDS).map(({ table }) => table)),
];

const write = (sql: string): Step => step(sql, []);
