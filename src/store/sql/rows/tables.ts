/** The derived tables. Change one, or what is written to it, and raise `VERSION`: rows are then rebuilt at start. */
import type { Tables } from '../table.ts';
import { VISIBLE } from './thread-index.ts';

export const VERSION = '31';

/** Columns of a temporary thread that the row of its run carries, under other names (carried-threads.ts). */
export const CARRIED = [
  ...(['created_at', 'updated_at', 'state_updated_at', 'status', 'settled', 'metadata', 'pairs'] as const),
  ...(['head', 'interrupts', 'error'] as const),
];
export const carriedColumn = (name: string): string => `thread_${name}`;

export const SCHEMA: Tables = {
  threads: {
    key: 'thread_id',
    isLong: true,
    columns: {
      thread_id: 'text',
      created_at: 'integer',
      updated_at: 'integer',
      state_updated_at: 'integer?',
      status: 'text',
      // The status without runs that are open: what it returns to when such a run leaves no trace.
      settled: 'text',
      metadata: 'text',
      // What of the metadata is indexed, a list of texts.
      pairs: 'pairs',
      title: 'content?',
      // The run whose deletion deletes the title.
      titled_by: 'text?',
      head: 'text?',
      interrupts: 'content',
      error: 'content?',
      // 1 for the thread of a stateless run.
      temporary: 'integer',
      // Whose state this is when the run that left it is not among the thread's, and since when.
      bound_graph_id: 'text?',
      bound_assistant_id: 'text?',
      bound_at: 'integer?',
      ttl_strategy: 'text?',
      ttl_minutes: 'real?',
      expires_at: 'integer?',
      // Its runs ended elsewhere, and before.
      imported_at: 'integer?',
    },
    indexes: {
      threads_expiring: { on: 'expires_at', where: 'expires_at IS NOT NULL' },
      threads_temporary: { on: 'updated_at', where: 'temporary = 1' },
      threads_by_status: { on: 'status, updated_at, thread_id', where: VISIBLE },
      threads_by_creation: { on: 'created_at, thread_id', where: VISIBLE },
    },
  },
  runs: {
    key: 'run_id',
    isLong: true,
    columns: {
      run_id: 'text',
      thread_id: 'text',
      assistant_id: 'text',
      graph_id: 'text',
      // Identity of the caller who created it; NULL without authentication.
      owner: 'text?',
      created_at: 'integer',
      updated_at: 'integer',
      started_at: 'integer?',
      ended_at: 'integer?',
      status: 'text',
      metadata: 'text',
      // What a thread shows of the config of its last run, an object without \`configurable\`; NULL for an empty one.
      config: 'content?',
      strategy: 'text',
      attempt: 'integer',
      lease_id: 'text?',
      not_before: 'integer',
      outcome: 'content?',
      // 1: its answer was refused, so it has left the thread as it was.
      refused: 'integer',
      // 1: its end is told to a webhook.
      webhook: 'integer',
      cancel_reason: 'text?',
      head: 'text?',
      // Numbers, a JSON object; NULL for none.
      usage: 'text?',
      // Its place among the runs of its thread: the version of the fact that started it, or that ended it unstarted.
      turn: 'integer?',
      // Version of its RunCreated, which says what it was created with; the order of the thread's runs of one millisecond.
      created: 'integer',
      ...{
        thread_created_at: 'integer?',
        thread_updated_at: 'integer?',
        thread_state_updated_at: 'integer?',
      },
      ...{
        thread_status: 'text?',
        thread_settled: 'text?',
        thread_metadata: 'text?',
        thread_pairs: 'pairs?',
      },
      ...{ thread_head: 'text?', thread_interrupts: 'content?', thread_error: 'content?' },
    },
    indexes: {
      runs_by_thread: { on: 'thread_id, created_at, created' },
      runs_by_assistant: { on: 'assistant_id' },
      runs_by_turn: { on: 'thread_id, turn', where: 'turn IS NOT NULL' },
      runs_ended: { on: 'ended_at, run_id', where: 'ended_at IS NOT NULL AND thread_status IS NULL' },
      runs_expiring: { on: 'thread_updated_at', where: "thread_status <> 'busy'" },
    },
  },
  deliveries: {
    key: 'delivery_id',
    columns: {
      delivery_id: 'text',
      run_id: 'text',
      thread_id: 'text',
      url: 'content',
      host: 'text',
      status: 'text',
      attempts: 'integer',
      // How many there were when it was owed, or asked for again.
      first: 'integer',
      version: 'integer',
      next_at: 'integer?',
      last_status: 'integer?',
      last_error: 'content?',
      // What it reports is deleted: sent all the same, seen by nobody.
      orphan: 'integer',
      // Its bytes are kept.
      body: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    indexes: {
      deliveries_due: { on: 'next_at', where: 'next_at IS NOT NULL' },
      deliveries_by_host: { on: 'host, next_at', where: 'next_at IS NOT NULL' },
      deliveries_by_thread: { on: 'thread_id' },
      deliveries_by_age: { on: 'created_at, delivery_id' },
      deliveries_kept: { on: 'updated_at', where: "status = 'delivered' AND body = 1" },
    },
  },
  assistants: {
    key: 'assistant_id',
    columns: {
      assistant_id: 'text',
      graph_id: 'text',
      name: 'text',
      description: 'text?',
      config: 'content',
      context: 'content',
      metadata: 'text',
      version: 'integer',
      system: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
  },
  assistant_versions: {
    key: 'version_id',
    columns: {
      version_id: 'text',
      assistant_id: 'text',
      version: 'integer',
      graph_id: 'text',
      name: 'text',
      description: 'text?',
      config: 'content',
      context: 'content',
      metadata: 'text',
      created_at: 'integer',
    },
    indexes: {
      assistant_versions_in_order: { on: 'assistant_id, version', unique: true },
    },
  },
  items: {
    key: 'item_id',
    columns: {
      item_id: 'text',
      namespace: 'text',
      key: 'text',
      path: 'long',
      reversed: 'long',
      created_at: 'integer',
      updated_at: 'integer',
      ttl: 'real?',
      expires_at: 'integer?',
    },
    indexes: {
      items_by_path: { on: 'path, item_id, expires_at' },
      items_by_reversed: { on: 'reversed, path' },
      items_by_update: { on: 'updated_at, item_id, path, expires_at' },
      items_expiring: { on: 'expires_at', where: 'expires_at IS NOT NULL' },
    },
  },
  crons: {
    key: 'cron_id',
    columns: {
      cron_id: 'text',
      assistant_id: 'text',
      thread_id: 'text?',
      schedule: 'text',
      timezone: 'text?',
      end_time: 'integer?',
      enabled: 'integer',
      on_run_completed: 'text?',
      user_id: 'text?',
      payload: 'content',
      metadata: 'text',
      // The slot that is next, also when it is past already.
      next_at: 'integer?',
      // Why its last slot started no run, a JSON object.
      refused: 'content?',
      // Of its stream.
      version: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    indexes: {
      crons_due: { on: 'next_at', where: 'enabled = 1' },
      crons_by_thread: { on: 'thread_id', where: 'thread_id IS NOT NULL' },
      crons_by_assistant: { on: 'assistant_id' },
    },
  },
};
