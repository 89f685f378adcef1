/**
 * Compares each row of content with its checksum, so that a bit which flipped on the disk is found and named. Derived
 * rows and snapshots have none: they are compared with what the events lead to.
 */
import { KINDS, type Kind } from '../../port/kinds.ts';
import type { Finding } from '../../port/past.ts';
import type { RowReader } from '../row-reader.ts';

export interface ContentTable {
  readonly table: string;
  readonly rows?: Kind['rows'];
  /** What a row is called, with columns in braces. */
  readonly title: string;
  /** SQL for the position of the event. */
  readonly position?: string;
  readonly isSecret?: true;
}

export const CONTENT_TABLES: readonly ContentTable[] = [
  { table: 'events', title: 'stream {stream}: event {version} ({type})', position: 'position' },
  ...Object.values<Kind>(KINDS),
];

/** SQL for the id of a row's thread, where that is not in the row itself. */
const THREADS: Readonly<Record<string, string>> = {
  texts: '(SELECT own.name FROM texts AS own WHERE own.id = bad.thread)',
  frames: '(SELECT own.thread FROM frames AS own WHERE own.run = bad.run AND own.first = 0)',
};

const titled = ({ table, title }: ContentTable): string =>
  `'${title.replace(/\{(\w+)\}/g, (_, column: string) => {
    const own = (column === 'thread' ? THREADS[table] : undefined) ?? `bad.${column}`;
    return `' || coalesce(shown_id(${own}), '?') || '`;
  })}'`;

/** The first row that is not what was written. */
export function findBadRow(rows: Pick<RowReader, 'get'>, content: ContentTable): Finding | undefined {
  const { table, rows: of = {}, position = 'NULL' } = content;
  const found = rows.get<{ subject: string; position: number | null }>(
    `SELECT ${titled(content)} AS subject, ${position} AS position FROM ${table} AS bad
     WHERE crc <> checksum(CAST(data AS BLOB)) ${Object.keys(of)
       .map((name) => `AND ${name} = @${name}`)
       .join(' ')} LIMIT 1`,
    of,
  );
  return (
    found && {
      position: found.position ?? undefined,
      problem: `${found.subject}: its checksum is not that of its content`,
    }
  );
}

export function findBadChecksum(rows: Pick<RowReader, 'get'>): Finding | undefined {
  for (const content of CONTENT_TABLES) {
    const finding = findBadRow(rows, content);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
