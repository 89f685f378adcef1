/**
 * Nodes, and what they reserve: work of an engine that several servers share. The store's clock decides who lives.
 *
 * X1 A renewal comes from a node that lives, so one that was silent for too long is gone for good.
 */
import { NODE_TTL_MS, type NodeRecord, type Orphan } from '../port/nodes.ts';
import { NEXT_DUE } from './views/due-queries.ts';
import { rows, write, type SharedContext, type Work } from './work.ts';

/** Time for which a thread that was claimed or taken over is not given to others. */
const CLAIM_MS = 5_000;
const MAX_TAKEN_OVER = 100;
/** Time for which the rows of nodes that are gone are kept: `cut_off` tells which of them did not die. */
const MAX_AGE_MS = 3_600_000;

const livesWhere = ({ clock }: SharedContext): string =>
  `cut_off = 0 AND renewed_at > ${clock} - ${NODE_TTL_MS}`;

/**
 * Makes a node, and forgets what nodes have left that are gone. `instead`: the node that this one was until it was cut off.
 * Returns the store's time.
 */
export function* joinNode(context: SharedContext, id: string, instead?: string): Work<number> {
  const { clock } = context;
  const [joined]: { since: number }[] = yield rows(
    `INSERT INTO nodes (id, since, renewed_at, cut_off) VALUES (?, ${clock}, ${clock}, 0) RETURNING since`,
    [id],
  );
  if (instead !== undefined)
    yield write(
      `INSERT INTO nodes (id, since, renewed_at, cut_off) VALUES (?, ${clock}, ${clock}, 1)
       ON CONFLICT (id) DO UPDATE SET cut_off = 1`,
      [instead],
    );
  yield write(`DELETE FROM nodes WHERE renewed_at < ${clock} - ${MAX_AGE_MS}`, []);
  yield write(
    `DELETE FROM reservations WHERE NOT EXISTS
       (SELECT 1 FROM nodes WHERE nodes.id = reservations.holder AND ${livesWhere(context)})`,
    [],
  );
  return joined!.since;
}

/** Returns the store's time; undefined when the node is gone. */
export function* renewNode(context: SharedContext, id: string): Work<number | undefined> {
  const [renewed]: { renewed_at: number }[] = yield rows(
    `UPDATE nodes SET renewed_at = ${context.clock} WHERE id = ? AND ${livesWhere(context)} RETURNING renewed_at`,
    [id],
  );
  return renewed?.renewed_at;
}

export function* leaveNode(id: string): Work<void> {
  yield write('DELETE FROM nodes WHERE id = ?', [id]);
  yield write('DELETE FROM reservations WHERE holder = ?', [id]);
}

export function* livingNodes(context: SharedContext): Work<NodeRecord[]> {
  const found: { id: string; since: number; renewed_at: number }[] = yield rows(
    `SELECT id, since, renewed_at FROM nodes WHERE ${livesWhere(context)} ORDER BY since, id`,
    [],
  );
  return found.map(({ id, since, renewed_at: renewedAt }) => ({ id, since, renewedAt }));
}

/** Threads of `queue` that are due, and those whose run executes on no living node; other nodes were not just given them. */
const dueWhere = ({ clock }: SharedContext): string =>
  `due_at <= @now AND coalesce(picked_until, 0) < ${clock}`;
const orphanWhere = (context: SharedContext): string =>
  `due_at IS NULL AND coalesce(picked_until, 0) < ${context.clock}
     AND NOT EXISTS (SELECT 1 FROM nodes WHERE id = queue.holder AND ${livesWhere(context)})`;

export interface Looked {
  readonly runs: number;
  readonly crons: number;
  readonly deliveries: number;
  readonly next: number | null;
  readonly orphans: number;
  readonly held: number;
  readonly nodes: number;
}

export function* look(context: SharedContext, id: string | undefined, now: number): Work<Looked> {
  const [found]: Looked[] = yield rows(
    `SELECT EXISTS (SELECT 1 FROM queue WHERE ${dueWhere(context)}) AS runs,
       EXISTS (SELECT 1 FROM crons WHERE enabled = 1 AND next_at <= @now) AS crons,
       EXISTS (SELECT 1 FROM deliveries WHERE next_at <= @now) AS deliveries,
       (${NEXT_DUE}) AS next,
       EXISTS (SELECT 1 FROM queue WHERE ${orphanWhere(context)}) AS orphans,
       (SELECT count(*) FROM queue WHERE due_at IS NULL AND holder = @id) AS held,
       (SELECT count(*) FROM nodes WHERE ${livesWhere(context)}) AS nodes`,
    { now, id: id ?? null },
  );
  return found!;
}

export function* claimThreads(context: SharedContext, now: number, limit: number): Work<string[]> {
  const { clock, skipLocked } = context;
  const claimed: { thread_id: string; due_at: number }[] = yield rows(
    `WITH due AS MATERIALIZED (
       SELECT thread_id FROM queue WHERE ${dueWhere(context)}
       ORDER BY due_at, thread_id LIMIT @limit ${skipLocked})
     UPDATE queue SET picked_until = ${clock} + ${CLAIM_MS} FROM due WHERE queue.thread_id = due.thread_id
     RETURNING queue.thread_id, queue.due_at`,
    { now, limit },
  );
  return claimed
    .sort((a, b) => a.due_at - b.due_at || (a.thread_id < b.thread_id ? -1 : 1))
    .map((row) => row.thread_id);
}

export function* takeOver(context: SharedContext): Work<Orphan[]> {
  const { clock, skipLocked } = context;
  const found: { thread_id: string; holder: string | null; cut_off: number }[] = yield rows(
    `WITH orphans AS MATERIALIZED (
       SELECT thread_id FROM queue WHERE ${orphanWhere(context)}
       ORDER BY thread_id LIMIT ${MAX_TAKEN_OVER} ${skipLocked})
     UPDATE queue SET picked_until = ${clock} + ${CLAIM_MS} FROM orphans
     WHERE queue.thread_id = orphans.thread_id
     RETURNING queue.thread_id, queue.holder,
       coalesce((SELECT cut_off FROM nodes WHERE id = queue.holder), 0) AS cut_off`,
    [],
  );
  return found.map(({ thread_id: threadId, holder, cut_off: cutOff }) => ({
    ...{ threadId, holder, isAlive: cutOff === 1 },
  }));
}

export function* hasReturned(id: string): Work<boolean> {
  const found: unknown[] = yield rows('SELECT 1 FROM nodes WHERE id = ? AND cut_off = 1', [id]);
  return found.length > 0;
}

export function* heldThreads(id: string): Work<string[]> {
  const sql = 'SELECT thread_id FROM queue WHERE due_at IS NULL AND holder = ? ORDER BY thread_id';
  const found: { thread_id: string }[] = yield rows(sql, [id]);
  return found.map((row) => row.thread_id);
}

export function* reserve(context: SharedContext, id: string, tasks: readonly string[]): Work<string[]> {
  if (tasks.length === 0) return [];
  // In one order, so that two nodes which reserve the same tasks do not wait for each other.
  const sorted = [...new Set(tasks)].sort();
  const lives = livesWhere(context);
  // X1 Others do not respect what a node reserves that slept and has not noticed yet that it is gone.
  const reserved: { task: string }[] = yield rows(
    `INSERT INTO reservations (task, holder)
     SELECT asked.column1, nodes.id FROM (VALUES ${sorted.map(() => '(?)').join()}) AS asked CROSS JOIN nodes
     WHERE nodes.id = ? AND ${lives}
     ON CONFLICT (task) DO UPDATE SET holder = excluded.holder
       WHERE reservations.holder = excluded.holder OR NOT EXISTS
         (SELECT 1 FROM nodes WHERE nodes.id = reservations.holder AND ${lives})
     RETURNING task`,
    [...sorted, id],
  );
  return reserved.map(({ task }) => task);
}

export function* release(id: string, task: string): Work<void> {
  yield write('DELETE FROM reservations WHERE task = ? AND holder = ?', [task, id]);
}
