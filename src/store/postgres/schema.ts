/** Creates and examines the schema of a log: the tables of `sql/log-tables.ts` and `sql/rows/tables.ts`. */
import { Unavailable } from '../../kernel/unavailable.ts';
import { LOG_TABLES, SHARED_TABLES } from '../sql/log-tables.ts';
import type { Projection } from '../sql/projection.ts';
import { projection } from '../sql/rows/projection.ts';
import { SCHEMA, VERSION } from '../sql/rows/tables.ts';
import type { Tables } from '../sql/table.ts';
import { ask, write as step, type Step, type Work } from '../sql/work.ts';
import { nullOf, toPostgres } from './dialect.ts';
import { ID_BLOCK } from './exchange.ts';

/** Version of the log's own tables and of what their rows contain. */
export const FORMAT = 1;
/** A schema has this in the place of its format while a whole log is imported into it. */
export const IMPORTING = 0;

/** Tables whose row ids are drawn. */
const NUMBERED_TABLES = ['events', 'texts', 'frames'];

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

/** All statements of a new schema. */
const statementsOf = ({ schema, view }: Derived): string[] => [
  ...NUMBERED_TABLES.map((name) => `CREATE SEQUENCE ${name}_ids INCREMENT ${ID_BLOCK}`),
  ...Object.entries({ ...LOG_TABLES, ...SHARED_TABLES, ...schema }).flatMap(([name, table]) =>
    toPostgres(name, table),
  ),
  ...(view === undefined ? [] : [view(nullOf)]),
  ...UPKEEP,
  ...FUNCTIONS,
  `INSERT INTO meta VALUES ('format', '${FORMAT}'), ('rows', '${VERSION}')`,
];

type Derived = Pick<Projection, 'schema' | 'view'>;

/**
 * Creates what is missing, once among all that start; says whether it did. Where the tables are there it only reads, so a role
 * needs no right to create. Throws `Unavailable` for a schema of another version.
 */
export function* prepareSchema(
  derived: Derived = projection,
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
  const found = yield* ask('SELECT 1 FROM pg_namespace WHERE nspname = ?', [name]);
  if (found.length === 0) yield write(`CREATE SCHEMA "${name}"`);
}

/** `to_regclass` may answer with what the connection remembers from before it waited for the lock. */
const hasTable = (name: string): string =>
  `EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE relname = '${name}' AND n.nspname = ANY(current_schemas(false)))`;

/** Whether the tables are there. Throws `Unavailable` for those of another version or program, and for half an import. */
export function* findTables(isImport = false): Work<boolean> {
  const [found] = yield* ask<{ has_meta: number; has_events: number }>(
    `SELECT ${hasTable('meta')} AS has_meta, ${hasTable('events')} AS has_events`,
    [],
  );
  const { has_meta: hasMeta, has_events: hasEvents } = found!;
  if (hasMeta === 0 && hasEvents === 0) return false;
  const marks = hasMeta === 0 ? [] : yield* ask<{ key: string; value: string }>('SELECT * FROM meta', []);
  for (const [name, own] of [['format', FORMAT] as const, ['rows', Number(VERSION)] as const]) {
    const mark = marks.find(({ key }) => key === name);
    if (mark === undefined)
      throw new Unavailable('it has tables of another program: name another database or schema');
    const version = Number(mark.value);
    if (version === own || (isImport && version === IMPORTING)) continue;
    if (version === IMPORTING)
      throw new Unavailable('an import of a whole log did not end; import the file again, which begins anew');
    const wayOut =
      version > own
        ? `knows ${own}: start the release that wrote it, or a later one`
        : `needs ${own}: start the release that wrote it`;
    throw new Unavailable(`its ${name} are of version ${version}, this release ${wayOut}`);
  }
  return true;
}

/** Bytes of the tables in the schema, with their indexes. */
export function* tableBytes(): Work<number> {
  const [found] = yield* ask<{ bytes: number }>(
    `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class AS c
     JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'`,
    [],
  );
  return found!.bytes;
}

/** Throws `Unavailable` for a role that may not do to the tables what a server does, or what only reads. */
export function* assertRights(derived: Tables = SCHEMA, use: 'serve' | 'read' = 'serve'): Work<void> {
  const rights = use === 'read' ? ['SELECT'] : RIGHTS;
  const [lacking] = yield* ask<{ name: string }>(
    `SELECT name FROM unnest(@names::text[]) AS name, to_regclass(name) AS found
     WHERE (${rights.map((right) => `has_table_privilege(found, '${right}')`).join(' AND ')}) IS NOT TRUE
     UNION ALL SELECT name FROM unnest(@sequences::text[]) AS name 
       WHERE has_sequence_privilege(to_regclass(name), 'USAGE') IS NOT TRUE
     UNION ALL SELECT '' WHERE @use = 'serve' AND current_setting('transaction_read_only') = 'on'`,
    {
      names: JSON.stringify(Object.keys({ ...LOG_TABLES, ...SHARED_TABLES, ...derived })),
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

const write = (sql: string): Step => step(sql, []);
