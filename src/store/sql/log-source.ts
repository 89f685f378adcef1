/**
 * Reads all of a log, page by page.
 * The queue and the other derived rows follow from the events, and imports that are not complete stay behind.
 */
import { threadIdOf } from '../../thread/events.ts';
import { KINDS, kindsWith } from '../port/kinds.ts';
import type { LogRecord, LogSource } from '../port/log-source.ts';
import type { Coder, Stored } from './coder.ts';
import { nextEvents, toRecorded, type EventRow } from './event-store.ts';
import { readPayloads } from './past/thread-source.ts';
import type { Reading } from './past/reading.ts';
import { ask } from './work.ts';

/** Rows of content that are held at once. */
const PAGE_ROWS = 20;

/** A table that is read in the order of a key. */
interface Paged {
  /** The first parameters are those of the row before; the last one is the limit. */
  readonly sql: string;
  readonly from: readonly (string | number)[];
  readonly keyOf: (row: Row) => (string | number)[];
  readonly toRecord: (row: Row, coder: Coder) => LogRecord;
}

interface Row {
  readonly id: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly base: string | null;
  readonly digest: string;
  readonly seq: number;
  readonly first: number;
  readonly last: number;
  readonly at: number;
  readonly data: Stored;
}

const paged = (columns: string, table: string, key: string, toRecord: Paged['toRecord']): Paged => ({
  sql: `SELECT ${key} AS id, ${columns} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`,
  from: [''],
  keyOf: ({ id }) => [id],
  toRecord,
});

const content = (write: Extract<LogRecord, { kind: 'content' }>['write']): LogRecord => ({
  kind: 'content',
  write,
});

const TABLES: readonly Paged[] = [
  paged('first, last, at', 'commands', 'command_id', ({ id, first, last, at }) => ({
    kind: 'receipt',
    receipt: { commandId: id, first, last, at },
  })),
  paged('digest, run_id, thread_id, at', 'requests', 'key', (row) =>
    content({
      ...{ kind: 'request', key: row.id, digest: row.digest },
      ...{ runId: row.run_id, threadId: row.thread_id, at: row.at },
    }),
  ),
  paged('thread_id, data', 'secrets', 'run_id', ({ id, thread_id: threadId, data }, coder) =>
    content({ kind: 'secret', runId: id, threadId, data: coder.open(data, 'secret') }),
  ),
  paged('data', 'cron_secrets', 'cron_id', ({ id, data }, coder) =>
    content({ kind: 'cron-secret', cronId: id, data: coder.open(data, 'secret') }),
  ),
  {
    sql: `SELECT seq, run_id AS id, thread_id, base, data FROM resume_calls
          WHERE (run_id, seq) > (?, ?) ORDER BY run_id, seq LIMIT ?`,
    from: ['', 0],
    keyOf: ({ id, seq }) => [id, seq],
    toRecord: ({ id, thread_id: threadId, base, data }, coder) =>
      content({
        ...{ kind: 'resume', runId: id, threadId },
        ...(base !== null && { base }),
        data: coder.openBytes(data as Uint8Array),
      }),
  },
  paged('thread_id, data', 'bodies', 'delivery_id', ({ id, thread_id: threadId, data }, coder) =>
    content({ kind: 'body', deliveryId: id, threadId, data: coder.open(data) }),
  ),
  paged('data', 'item_values', 'item_id', ({ id, data }, coder) =>
    content({ kind: 'item-value', itemId: id, data: coder.open(data) }),
  ),
];

/** All vectors of the next item. */
const VECTORS = `SELECT item_id AS id, data FROM item_vectors
  WHERE item_id = (SELECT min(item_id) FROM item_vectors WHERE item_id > ?) ORDER BY idx`;

const SEALED = kindsWith(({ exported }) => exported === 'sealed').map((name) => KINDS[name].table);

export const openLogSource = ({ context, run, size, close }: Reading): LogSource => ({
  ...{ size, close },
  async hasSecrets() {
    for (const table of SEALED)
      if ((await run(ask(`SELECT 1 AS found FROM ${table} LIMIT 1`, []))).length > 0) return true;
    return false;
  },
  async *records() {
    let last: EventRow | undefined;
    for (;;) {
      const page = await run(nextEvents(last));
      if (page.length === 0) break;
      for (const row of page) {
        const threadId = row.stream === last?.stream ? undefined : threadIdOf(row.stream);
        if (threadId !== undefined)
          for await (const payload of readPayloads({ context, run }, threadId))
            yield { kind: 'payload', threadId, payload };
        yield { kind: 'event', event: toRecorded(context.coder, row) };
        last = row;
      }
    }
    for (const { sql, from, keyOf, toRecord } of TABLES)
      for (let after = from; ;) {
        const page = await run(ask<Row>(sql, [...after, PAGE_ROWS]));
        for (const row of page) yield toRecord(row, context.coder);
        if (page.length < PAGE_ROWS) break;
        after = keyOf(page.at(-1)!);
      }
    for (let itemId = ''; ;) {
      const found = await run(ask<Row>(VECTORS, [itemId]));
      if (found.length === 0) return;
      itemId = found[0]!.id;
      const vectors = found.map(({ data }) => context.coder.open(data));
      yield content({ kind: 'item-vectors', itemId, vectors });
    }
  },
});
