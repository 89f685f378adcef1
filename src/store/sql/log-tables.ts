/**
 * The log's own tables: events and content, which nothing can make again, and the queue. Derived tables are in `rows/tables.ts`.
 *
 * P3 What many rows share is stored once: a text may be the difference from texts of earlier rows of its table, whose ids
 * `bases` lists (texts.ts). The order of checkpoints is that of saving: their ids come from the graph's runtime and its
 * clock, which may jump.
 */
import type { Table, Tables } from './table.ts';

/** The text, its sealed bytes or compressed ones (coder.ts), and the checksum of what is stored. */
const CONTENT = { data: 'content', crc: 'small' } as const;

/** NULL for a whole text; else JSON with the ids of its bases, and the length of the whole text in UTF-16 units. */
const DIFFERENCE = { bases: 'text?', size: 'integer?' } as const;

const EVENTS: Tables = {
  meta: { key: 'key', columns: { key: 'text', value: 'text' } },
  events: {
    key: 'position',
    isLong: true,
    columns: {
      ...{ position: 'integer', stream: 'text', version: 'integer', type: 'text', schema: 'small' },
      ...{ ...CONTENT, at: 'integer', command_id: 'text' },
    },
    unique: 'stream, version',
  },
  commands: {
    key: 'command_id',
    columns: { command_id: 'text', first: 'integer', last: 'integer', at: 'integer' },
    indexes: { commands_by_age: { on: 'at' } },
  },
  snapshots: { key: 'stream', columns: { stream: 'text', version: 'integer', state: 'content' } },
  requests: {
    key: 'key',
    columns: { key: 'text', digest: 'text', run_id: 'text', thread_id: 'text', at: 'integer' },
    indexes: { requests_by_age: { on: 'at' } },
  },
};

const TEXTS: Tables = {
  texts: {
    key: 'id',
    isLong: true,
    columns: {
      ...{ id: 'integer', seq: 'order' },
      // The row of the thread.
      thread: 'integer',
      // 'c': a checkpoint without its values; 'v': a channel's value; 'w': what tasks of a run wrote on a checkpoint;
      // 't': a thread that has some of these.
      kind: 'text',
      ns: 'text',
      // The id of the checkpoint or thread, or the channel.
      name: 'id',
      // A value has one; a checkpoint and a thread have an empty one; writes have NULL, as a checkpoint has several rows of them.
      version: 'text?',
      // NULL for a value that came with its checkpoint.
      run: 'id?',
      parent: 'id?',
      at: 'integer?',
      // The last frame that the run had when it saved the checkpoint, if an executor did.
      last_frame: 'integer?',
      // Rows of writes say here which stretch of the text is which write.
      parts: 'text?',
      ...DIFFERENCE,
      ...CONTENT,
    },
    indexes: {
      texts_by_name: { on: 'thread, kind, ns, name, version', unique: true },
      checkpoints_by_order: { on: 'thread, ns', where: "kind = 'c'", isOrdered: true },
    },
  },
  // The frames of a run that one commit has, or one frame that shows the state.
  frames: {
    key: 'id',
    isLong: true,
    columns: {
      ...{ id: 'integer', seq: 'order', run: 'id', first: 'integer', last: 'integer' },
      // Of the run's first row, and of those that show the state.
      thread: 'id?',
      // The graph whose state it shows.
      series: 'text?',
      at: 'integer',
      // Which stretch of the text is which frame.
      parts: 'text',
      ...DIFFERENCE,
      ...CONTENT,
    },
    indexes: {
      frames_by_run: { on: 'run, last', unique: true },
      frames_by_thread: { on: 'thread, series', where: 'thread IS NOT NULL', isOrdered: true },
    },
  },
};

const OTHERS: Tables = {
  // Content that belongs to a run and is found by its id (port/kinds.ts).
  run_contents: {
    key: 'id',
    isLong: true,
    columns: { id: 'order', run_id: 'text', thread_id: 'text', kind: 'text', ...CONTENT },
    indexes: { run_contents_by_run: { on: 'run_id, kind' }, run_contents_by_thread: { on: 'thread_id' } },
  },
  resume_calls: {
    key: 'seq',
    isLong: true,
    columns: { seq: 'order', thread_id: 'text', run_id: 'text', base: 'text?', ...CONTENT },
    indexes: { resume_calls_by_run: { on: 'run_id' }, resume_calls_by_thread: { on: 'thread_id' } },
  },
  secrets: { key: 'run_id', columns: { run_id: 'text', thread_id: 'text', ...CONTENT } },
  cron_secrets: { key: 'cron_id', columns: { cron_id: 'text', ...CONTENT } },
  bodies: {
    key: 'delivery_id',
    isLong: true,
    columns: { delivery_id: 'text', thread_id: 'text', ...CONTENT },
  },
  item_values: { key: 'item_id', isLong: true, columns: { item_id: 'text', ...CONTENT } },
  item_vectors: {
    key: 'item_id, idx',
    isLong: true,
    columns: { item_id: 'text', idx: 'integer', ...CONTENT },
  },
  imports: { key: 'storage_key', columns: { storage_key: 'text', thread_id: 'text', at: 'integer' } },
};

/** One row for each thread with open runs (`views/claim-queries.ts`): no projection writes it. */
const QUEUE: Table = {
  key: 'thread_id',
  columns: { thread_id: 'text', due_at: 'integer?' },
  indexes: { queue_due: { on: 'due_at, thread_id', where: 'due_at IS NOT NULL' } },
};

export const LOG_TABLES: Tables = { ...EVENTS, ...TEXTS, ...OTHERS, queue: QUEUE };

/** Those of a log that several servers share (`nodes.ts`). */
export const SHARED_TABLES: Tables = {
  queue: {
    key: 'thread_id',
    // The node that executes the run, and until when a node has the thread for itself, by the store's clock.
    columns: { ...QUEUE.columns, holder: 'text?', picked_until: 'integer?' },
    indexes: { ...QUEUE.indexes, queue_held: { on: 'holder', where: 'due_at IS NULL' } },
  },
  // `cut_off`: 1 when the server goes on as another node.
  nodes: { key: 'id', columns: { id: 'text', since: 'integer', renewed_at: 'integer', cut_off: 'integer' } },
  reservations: {
    key: 'task',
    columns: { task: 'text', holder: 'text' },
    indexes: { reservations_by_holder: { on: 'holder' } },
  },
};
