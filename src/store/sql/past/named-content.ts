/**
 * Compares what events name with what is stored. P3 Every checkpoint that an event names exists, unless its run was rolled
 * back or deleted or the thread was pruned. I6 A cron that fired made a run.
 */
import { threadIdOf, threadStream } from '../../../thread/events.ts';
import type { Recorded } from '../../port/events.ts';
import type { Finding } from '../../port/past.ts';
import { toId, toStoredId, type StoredId } from '../payloads/stored-ids.ts';
import { THREAD } from '../payloads/text-threads.ts';
import { ask, type Work, type WorkContext } from '../work.ts';

interface NamedCheckpoint {
  readonly ns: string;
  readonly checkpointId: string;
  readonly position: number;
  readonly by: 'run' | 'update' | 'pruning';
  /** The run that saved it. */
  readonly runId?: string;
}

const PROBLEMS: Readonly<Record<NamedCheckpoint['by'], string>> = {
  run: ' is missing',
  update: ' of an update is missing',
  pruning: ', which a pruning left, is missing',
};

export interface NamedContent {
  /** Hears of all events, page by page, in order of stream and version. */
  add(events: readonly Recorded[]): Work<void>;
  /** Call behind the last event: the first that names what is not there. */
  end(): Work<Finding | undefined>;
}

export function createNamedContent({ listed }: WorkContext): NamedContent {
  let stream = '';
  let named: NamedCheckpoint[] = [];
  let finding: Finding | undefined;

  function take(event: Recorded): void {
    const { position } = event.meta;
    if (event.type === 'CheckpointSaved') named.push({ ...event.data, position, by: 'run' });
    else if (event.type === 'StateUpdated')
      for (const { ns, checkpointId } of event.data.checkpoints)
        named.push({ ns, checkpointId, position, by: 'update' });
    else if (event.type === 'ThreadPruned')
      named = event.data.kept.map((kept) => ({ ...kept, position, by: 'pruning' }));
    else if (event.type === 'RunDeleted') named = named.filter(({ by }) => by !== 'pruning');
  }

  function* endStream(): Work<void> {
    const threadId = threadIdOf(stream);
    const of = named;
    named = [];
    if (threadId === undefined || of.length === 0 || finding !== undefined) return;
    const runs = yield* ask<{ id: string }>('SELECT run_id AS id FROM runs WHERE thread_id = ?', [threadId]);
    const stored = yield* ask<{ ns: string; name: StoredId }>(
      `SELECT ns, name FROM texts WHERE thread = ${THREAD} AND kind = 'c'`,
      { thread: toStoredId(threadId) },
    );
    const runIds = new Set(runs.map(({ id }) => id));
    const keys = new Set(stored.map(({ ns, name }) => keyOf(ns, toId(name))));
    const missing = of.find(
      ({ ns, checkpointId, runId }) =>
        (runId === undefined || runIds.has(runId)) && !keys.has(keyOf(ns, checkpointId)),
    );
    if (missing === undefined) return;
    const { checkpointId, position, by } = missing;
    finding = { position, problem: `thread ${threadId}: checkpoint ${checkpointId}${PROBLEMS[by]}` };
  }

  /** A run whose row is gone may have been deleted, or its thread. */
  function* findUnmade(events: readonly Recorded[]): Work<void> {
    const fired = events.filter((event) => event.type === 'CronFired');
    if (fired.length === 0 || finding !== undefined) return;
    const found = yield* ask<{ id: string }>(
      `SELECT run_id AS id FROM runs WHERE run_id IN (SELECT value FROM ${listed('@ids')})`,
      { ids: JSON.stringify(fired.map(({ data }) => data.runId)) },
    );
    const made = new Set(found.map(({ id }) => id));
    for (const { data, meta } of fired) {
      if (made.has(data.runId)) continue;
      const told = yield* ask(
        `SELECT 1 AS told FROM events WHERE stream = ?
           AND (type = 'ThreadDeleted' OR type = 'RunCreated' AND command_id = ?) LIMIT 1`,
        [threadStream(data.threadId), meta.commandId],
      );
      if (told.length > 0) continue;
      finding = { position: meta.position, problem: `run ${data.runId}: its cron fired without it` };
      return;
    }
  }

  return {
    *add(events): Work<void> {
      for (const event of events) {
        if (event.meta.stream !== stream) yield* endStream();
        ({ stream } = event.meta);
        take(event);
      }
      yield* findUnmade(events);
    },
    *end(): Work<Finding | undefined> {
      yield* endStream();
      return finding;
    },
  };
}

const keyOf = (ns: string, checkpointId: string): string => JSON.stringify([ns, checkpointId]);
