import { QUEUE, type Table } from './rows/tables.ts';

/** The store's own tables where several servers share it (`sql/nodes.ts`). */
export const SHARED: Readonly<Record<string, Table>> = {
  queue: {
    key: 'thread_id',
    // The node that executes the run, and until when a node has the thread for itself, by the store's clock.
    columns: { ...QUEUE.columns, holder: 'text?', picked_until: 'integer?' },
    indexes: { ...QUEUE.indexes, queue_held: { on: 'holder', where: 'due_at IS NULL' } },
  },
  nodes: {
    key: 'id',
    columns: {
      ...{ id: 'text', since: 'integer', renewed_at: 'integer' },
      // 1: its server goes on as another node.
      cut_off: 'integer',
    },
    indexes: {},
  },
  reservations: {
    key: 'task',
    columns: { task: 'text', holder: 'text' },
    indexes: { reservations_by_holder: { on: 'holder' } },
  },
};
