/**
 * Changes of a thread that depend on its checkpoints: copying, pruning and deletion of a run.
 *
 * P3 Checkpoints have delta bases: a deletion keeps every checkpoint that a remaining one needs for reading or
 * resuming. L3 Content is deleted in the commit of the event that says so. A busy thread is refused, because open runs
 * need its checkpoints.
 */
import type { JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../store/port/log.ts';
import type { CheckpointOutline } from '../store/port/payloads.ts';
import {
  threadStream,
  type CheckpointKey,
  type Standing,
  type ThreadEventMap,
  type Ttl,
} from '../thread/events.ts';
import { isLiving, type ThreadState } from '../thread/state.ts';
import { CONFLICT } from './aggregate.ts';
import type { Dispatched, Threads } from './threads.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

/** Returns ids of the checkpoints in the same namespace that this one needs for reading or resuming. */
type DeltaBasesOf = (checkpoint: CheckpointOutline) => readonly string[];

export interface ThreadMaintenance {
  /** Creates a thread with all checkpoints of `from`, but without its runs. */
  copy(
    from: string,
    make: { threadId: string; metadata: JsonObject; ttl?: Ttl },
    by?: string,
  ): Promise<Dispatched>;
  /** Deletes an ended run. Returns no events when it is gone already. Refused while the thread has an open run. */
  deleteRun(threadId: string, runId: string, by?: string): Promise<Dispatched>;
  /** Deletes a run like `deleteRun`, but keeps its checkpoints, so the thread's state does not change. */
  deleteRunRecord(threadId: string, runId: string, by?: string): Promise<Dispatched>;
  /**
   * Deletes all checkpoints except the newest and what resuming it needs, and runs without remaining checkpoints.
   * Refused while a run is open. `isDue` is asked on the version that the pruning is decided on.
   */
  keepLatest(
    threadId: string,
    options?: {
      readonly isDue?: (state: ThreadState) => Promise<boolean>;
      readonly by?: string | undefined;
    },
  ): Promise<Dispatched>;
}

export interface ThreadMaintenanceOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly deltaBasesOf: DeltaBasesOf;
}

const ROOT_NAMESPACE = '';
const RUNS_PER_PAGE = 100;

export function createThreadMaintenance({
  log,
  threads,
  deltaBasesOf,
}: ThreadMaintenanceOptions): ThreadMaintenance {
  /**
   * Returns what the thread shows after the run's deletion: the previous run's end, unless a client wrote state later.
   */
  async function shownAfter(
    { runId, threadId }: RunRecord,
    all: readonly CheckpointOutline[],
    head: string | null,
  ): Promise<Pick<ThreadEventMap['RunDeleted'], 'left' | 'stays'>> {
    const last = await log.views.runs.lastEnded(threadId);
    const own = all.findIndex((checkpoint) => checkpoint.runId === last?.runId);
    const at = all.findIndex(({ ns, checkpointId }) => ns === ROOT_NAMESPACE && checkpointId === head);
    // After a client's state update the thread keeps showing that state.
    const isWritten = own !== -1 && at !== -1 && at < own;
    const stays = isWritten ? await standingOf(threadId) : undefined;
    if (stays !== undefined) return { left: null, stays };
    const base = last?.runId === runId ? await log.views.runs.lastEnded(threadId, runId) : last;
    return { left: base?.outcome ? { runId: base.runId, outcome: base.outcome } : null };
  }

  async function standingOf(threadId: string): Promise<Standing | undefined> {
    const thread = await log.views.threads.get(threadId);
    // The machine refuses busy threads, so this result is not used.
    if (thread === undefined || thread.status === 'busy') return undefined;
    const { status, interrupts, error } = thread;
    return { bound: (await log.views.runs.bound(threadId))?.bound ?? null, status, interrupts, error };
  }

  /** Newest first. */
  async function runsOf(threadId: string): Promise<string[]> {
    const runIds: string[] = [];
    for (;;) {
      const page = await log.views.runs.list({ threadId, limit: RUNS_PER_PAGE, offset: runIds.length });
      runIds.push(...page);
      if (page.length < RUNS_PER_PAGE) return runIds;
    }
  }

  return {
    copy: (from, make, by) =>
      threads.runExclusive(from, async ({ state, version }) => {
        if (!isLiving(state)) return { ok: false, refusal: { code: 'thread-missing' } };
        const bound = (await log.views.runs.bound(from))?.bound;
        const graph = bound ? { graphId: bound.graphId, assistantId: bound.assistantId } : null;
        const command = {
          type: 'CopyThread',
          ...make,
          from,
          head: state.head,
          graph,
          ...(state.title && { title: state.title.text }),
        } as const;
        // The append without events fails the commit if the source thread has changed since its head was read.
        const extraAppends = [{ stream: threadStream(from), expected: version, events: [] }];
        const done = await threads.dispatch(make.threadId, [command], { by, extraAppends });
        return !done.ok && done.refusal.code === 'concurrency-conflict' ? CONFLICT : done;
      }),

    deleteRun: (threadId, runId, by) =>
      threads.dispatch(
        threadId,
        async (state) => {
          const run = await log.views.runs.get(runId, { threadId });
          if (run === undefined) return [];
          const all = await log.payloads.outline(threadId);
          const staying = all.filter((checkpoint) => checkpoint.runId !== runId);
          const head = headOf(staying, isLiving(state) ? state.head : null);
          const shown = await shownAfter(run, all, head);
          const kept = basesOf(staying, all, deltaBasesOf);
          return [{ type: 'DeleteRun', runId, kept, head, ...shown }];
        },
        { by },
      ),

    deleteRunRecord: (threadId, runId, by) =>
      threads.dispatch(
        threadId,
        async (state) => {
          const run = await log.views.runs.get(runId, { threadId });
          if (run === undefined) return [];
          const all = await log.payloads.outline(threadId);
          const head = isLiving(state) ? state.head : null;
          const kept = all.filter((checkpoint) => checkpoint.runId === runId).map(toKey);
          const stays = await standingOf(threadId);
          return [{ type: 'DeleteRun', runId, kept, head, left: null, ...(stays && { stays }) }];
        },
        { by },
      ),

    keepLatest: (threadId, { isDue = async () => true, by } = {}) =>
      threads.dispatch(
        threadId,
        async (state) => {
          if (!(await isDue(state))) return [];
          const all = await log.payloads.outline(threadId);
          const latest = latestOf(all, isLiving(state) ? state.head : null);
          const kept = [...latest, ...basesOf(latest, all, deltaBasesOf)].map(toKey);
          const runs = outdatedRuns(await runsOf(threadId), all, kept);
          const stays = await standingOf(threadId);
          return [{ type: 'PruneThread', kept, runs, ...(stays && { stays }) }];
        },
        { by },
      ),
  };
}

/**
 * Returns runs without remaining checkpoints. A run that saved nothing is outdated if a newer run saved; otherwise it
 * explains the thread's status and stays. `runIds`: newest first.
 */
function outdatedRuns(
  runIds: readonly string[],
  all: readonly CheckpointOutline[],
  kept: readonly CheckpointKey[],
): string[] {
  const keys = new Set(kept.map(keyOf));
  const saved = new Set(all.map(({ runId }) => runId));
  const left = new Set(all.filter((checkpoint) => keys.has(keyOf(checkpoint))).map(({ runId }) => runId));
  const newest = runIds.findIndex((runId) => saved.has(runId));
  return newest === -1 ? [] : runIds.slice(newest).filter((runId) => !left.has(runId));
}

/** Returns the head, or if it is deleted the newest remaining checkpoint of the root namespace. */
function headOf(staying: readonly CheckpointOutline[], head: string | null): string | null {
  const roots = staying.filter(({ ns }) => ns === ROOT_NAMESPACE).map(({ checkpointId }) => checkpointId);
  return head !== null && roots.includes(head) ? head : (roots[0] ?? null);
}

/**
 * Returns the head, and the newest checkpoint of each namespace that continues from it. A subgraph in mid-step names
 * the head in its `parents`. A subgraph with memory across runs has a namespace without task ids.
 */
function latestOf(all: readonly CheckpointOutline[], head: string | null): CheckpointOutline[] {
  const seen = new Set<string>([ROOT_NAMESPACE]);
  return all.filter((checkpoint) => {
    const { ns, checkpointId, metadata } = checkpoint;
    if (ns === ROOT_NAMESPACE) return checkpointId === head;
    if (seen.has(ns)) return false;
    seen.add(ns);
    const parents = metadata['parents'] as JsonObject | undefined;
    return parents?.[ROOT_NAMESPACE] === head || ns.split('|').every((segment) => !segment.includes(':'));
  });
}

/** Returns the delta bases of `staying`, recursively. */
function basesOf(
  staying: readonly CheckpointOutline[],
  all: readonly CheckpointOutline[],
  deltaBasesOf: DeltaBasesOf,
): CheckpointKey[] {
  const known = new Map(all.map((checkpoint) => [keyOf(checkpoint), checkpoint]));
  const held = new Map<string, CheckpointOutline>();
  const open = [...staying];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const checkpointId of deltaBasesOf(next)) {
      const key = keyOf({ ns: next.ns, checkpointId });
      const found = known.get(key);
      if (found === undefined || held.has(key)) continue;
      held.set(key, found);
      open.push(found);
    }
  return [...held.values()].map(toKey);
}

const keyOf = ({ ns, checkpointId }: CheckpointKey): string => JSON.stringify([ns, checkpointId]);
const toKey = ({ ns, checkpointId }: CheckpointKey): CheckpointKey => ({ ns, checkpointId });
