/**
 * Changes of a thread that depend on its checkpoints: copying it, pruning it, deleting a run.
 *
 * P3 Checkpoints lean on each other: what one that stays cannot be read or resumed without stays with it. L3 What goes,
 * goes in the commit of the fact that says so. A busy thread is refused: its open runs lean on what is there.
 */
import type { JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import type { CheckpointOutline } from '../log/payloads.ts';
import { boundGraph, getRun, lastEndedRun, listRuns, type RunRecord } from '../projections/run-queries.ts';
import { getThread } from '../projections/thread-queries.ts';
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

/** The ids of the checkpoints of the same namespace that this one cannot be read or resumed without. */
export type DeltaBasesOf = (checkpoint: CheckpointOutline) => readonly string[];

export interface ThreadMaintenance {
  /** A new thread with everything that the other one has saved, but its runs. */
  copy(from: string, make: { threadId: string; metadata: JsonObject; ttl?: Ttl }): Promise<Dispatched>;
  /** Without facts when the run is gone already. Refused while a run of the thread is open. */
  deleteRun(threadId: string, runId: string): Promise<Dispatched>;
  /** The same, but the thread keeps what the run has saved: its state stays as it is. */
  deleteRunRecord(threadId: string, runId: string): Promise<Dispatched>;
  /**
   * Drops all checkpoints but the newest and what resuming it needs, and the runs that none is left of. Refused while a
   * run is open. `isDue` is asked when nothing can change any more; without it the thread is pruned in any case.
   */
  keepLatest(threadId: string, isDue?: (state: ThreadState) => Promise<boolean>): Promise<Dispatched>;
}

export interface ThreadMaintenanceOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly deltaBasesOf: DeltaBasesOf;
}

const ROOT = '';
const RUNS_PAGE = 100;

export function createThreadMaintenance({
  log,
  threads,
  deltaBasesOf,
}: ThreadMaintenanceOptions): ThreadMaintenance {
  /** What the thread shows once the run is gone: the end of the run before, unless something came after this one. */
  async function shownAfter(
    { runId, threadId }: RunRecord,
    all: readonly CheckpointOutline[],
    head: string | null,
  ): Promise<Pick<ThreadEventMap['RunDeleted'], 'left' | 'stays'>> {
    const last = await lastEndedRun(log.rows, threadId);
    const own = all.findIndex((checkpoint) => checkpoint.runId === last?.runId);
    const at = all.findIndex(({ ns, checkpointId }) => ns === ROOT && checkpointId === head);
    // A client wrote into the state after the last run: what the thread shows is of that state.
    const isWritten = own !== -1 && at !== -1 && at < own;
    const stays = isWritten ? await standingOf(threadId) : undefined;
    if (stays !== undefined) return { left: null, stays };
    const base = last?.runId === runId ? await lastEndedRun(log.rows, threadId, runId) : last;
    return { left: base?.outcome ? { runId: base.runId, outcome: base.outcome } : null };
  }

  async function standingOf(threadId: string): Promise<Standing | undefined> {
    const thread = await getThread(log.rows, threadId);
    // A busy one is refused.
    if (thread === undefined || thread.status === 'busy') return undefined;
    const { status, interrupts, error } = thread;
    return { bound: (await boundGraph(log.rows, threadId)) ?? null, status, interrupts, error };
  }

  /** Newest first. */
  async function runsOf(threadId: string): Promise<string[]> {
    const runIds: string[] = [];
    for (;;) {
      const page = await listRuns(log.rows, { threadId, limit: RUNS_PAGE, offset: runIds.length });
      runIds.push(...page);
      if (page.length < RUNS_PAGE) return runIds;
    }
  }

  return {
    copy: (from, make) =>
      threads.runExclusive(from, async ({ state, version }) => {
        if (!isLiving(state)) return { ok: false, refusal: { code: 'thread-missing' } };
        const bound = await boundGraph(log.rows, from);
        const graph = bound ? { graphId: bound.graphId, assistantId: bound.assistantId } : null;
        const command = { type: 'CopyThread', ...make, from, head: state.head, graph } as const;
        // The checkpoints that the commit copies are those that the head was read with.
        const extraAppends = [{ stream: threadStream(from), expected: version, events: [] }];
        const done = await threads.dispatch(make.threadId, [command], { extraAppends });
        return !done.ok && done.refusal.code === 'concurrency-conflict' ? CONFLICT : done;
      }),

    deleteRun: (threadId, runId) =>
      threads.dispatch(threadId, async (state) => {
        const run = await getRun(log.rows, runId, { threadId });
        if (run === undefined) return [];
        const all = await log.payloads.outline(threadId);
        const staying = all.filter((checkpoint) => checkpoint.runId !== runId);
        const head = headOf(staying, isLiving(state) ? state.head : null);
        const shown = await shownAfter(run, all, head);
        const kept = basesOf(staying, all, deltaBasesOf);
        return [{ type: 'DeleteRun', runId, kept, head, ...shown }];
      }),

    deleteRunRecord: (threadId, runId) =>
      threads.dispatch(threadId, async (state) => {
        const run = await getRun(log.rows, runId, { threadId });
        if (run === undefined) return [];
        const all = await log.payloads.outline(threadId);
        const head = isLiving(state) ? state.head : null;
        const kept = all.filter((checkpoint) => checkpoint.runId === runId).map(toPlace);
        const stays = await standingOf(threadId);
        return [{ type: 'DeleteRun', runId, kept, head, left: null, ...(stays && { stays }) }];
      }),

    keepLatest: (threadId, isDue = async () => true) =>
      threads.dispatch(threadId, async (state) => {
        if (!(await isDue(state))) return [];
        const all = await log.payloads.outline(threadId);
        const latest = latestOf(all, isLiving(state) ? state.head : null);
        const kept = [...latest, ...basesOf(latest, all, deltaBasesOf)].map(toPlace);
        const runs = outdatedRuns(await runsOf(threadId), all, kept);
        const stays = await standingOf(threadId);
        return [{ type: 'PruneThread', kept, runs, ...(stays && { stays }) }];
      }),
  };
}

/**
 * The runs that no checkpoint is left of. One that saved nothing goes with those before the newest that did; a later one
 * says why the thread stands as it does. `runIds`: newest first.
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

/** The head as it is, or when it goes the newest checkpoint of the root namespace that stays. */
function headOf(staying: readonly CheckpointOutline[], head: string | null): string | null {
  const roots = staying.filter(({ ns }) => ns === ROOT).map(({ checkpointId }) => checkpointId);
  return head !== null && roots.includes(head) ? head : (roots[0] ?? null);
}

/**
 * The head, and the newest checkpoint of every namespace that goes on from there: a subgraph that is not done with the
 * head's step says so in its `parents`, one that remembers from run to run has a namespace without tasks.
 */
function latestOf(all: readonly CheckpointOutline[], head: string | null): CheckpointOutline[] {
  const seen = new Set<string>([ROOT]);
  return all.filter((checkpoint) => {
    const { ns, checkpointId, metadata } = checkpoint;
    if (ns === ROOT) return checkpointId === head;
    if (seen.has(ns)) return false;
    seen.add(ns);
    const parents = metadata['parents'] as JsonObject | undefined;
    return parents?.[ROOT] === head || ns.split('|').every((segment) => !segment.includes(':'));
  });
}

/** The delta bases of `staying`, and theirs in turn. */
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
  return [...held.values()].map(toPlace);
}

const keyOf = ({ ns, checkpointId }: CheckpointKey): string => JSON.stringify([ns, checkpointId]);
const toPlace = ({ ns, checkpointId }: CheckpointKey): CheckpointKey => ({ ns, checkpointId });
