/**
 * What the facts alone say of every run and webhook, kept beside the log from what it was told. X1 to X3 and X6 are
 * checked with every fact.
 */
import assert from 'node:assert/strict';
import { PAUSES_MS } from '../../src/delivery/schedule.ts';
import type { Recorded } from '../../src/store/port/events.ts';
import type { Lease } from '../../src/store/port/log.ts';
import type { Outcome } from '../../src/thread/events.ts';
import { createAccounts } from './accounts.ts';
import type { Schedule } from './schedule.ts';

interface LedgerRun {
  readonly threadId: string;
  /** The command that created it. */
  readonly commandId: string;
  readonly hasWebhook: boolean;
  lease?: Lease | undefined;
  attempts: number;
  outcome?: Outcome;
  /** The checkpoints it saved, oldest first. */
  readonly saved: string[];
  /** When it was told to stop, by the life's clock. */
  cancelAt?: number;
}

interface LedgerDelivery {
  readonly runId: string;
  readonly url: string;
  attempts: number;
  status: 'owed' | 'delivered' | 'failed';
}

export interface Ledger {
  hear(events: readonly Recorded[]): void;
  /** Facts as listeners heard of them. */
  readonly heard: readonly Recorded[];
  /** By stream, the version before which a deletion purged it. */
  readonly purged: ReadonlyMap<string, number>;
  readonly runs: ReadonlyMap<string, LedgerRun>;
  readonly deliveries: ReadonlyMap<string, LedgerDelivery>;
  /** Runs whose end owed a webhook. */
  readonly owing: ReadonlySet<string>;
  /** Command ids that left facts, and are not forgotten with the runs that they created. */
  readonly commands: ReadonlySet<string>;
  readonly deletedThreads: ReadonlySet<string>;
  readonly deletedRuns: ReadonlySet<string>;
  /** By thread, the runs that have started or ended, by ordinal. */
  readonly runsByOrdinal: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** A run, or a client's change of a state, that was rolled back or deleted with or without its thread. */
  hasVanished(id: string): boolean;
}

export function createLedger(
  schedule: Schedule,
  onDelivered: (deliveryId: string) => void,
  hasReturned: ((id: string) => boolean) | undefined,
): Ledger {
  const heard: Recorded[] = [];
  const purged = new Map<string, number>();
  const owing = new Set<string>();
  /** By change of a state, its thread. */
  const updates = new Map<string, string>();
  const runs = new Map<string, LedgerRun>();
  const deliveries = new Map<string, LedgerDelivery>();
  const commands = new Set<string>();
  const deletedThreads = new Set<string>();
  const deletedRuns = new Set<string>();
  /** By thread: the run that executes. */
  const executing = new Map<string, string>();
  const runsByOrdinal = new Map<string, Map<number, string>>();
  const accounts = createAccounts(hasReturned);

  function noteOrdinal(event: Recorded, { threadId, runId }: { threadId: string; runId: string }): void {
    const known = runsByOrdinal.get(threadId) ?? new Map<number, string>();
    runsByOrdinal.set(threadId, known.set(event.meta.version, runId));
  }

  function leave(runId: string, threadId: string): void {
    if (executing.get(threadId) === runId) executing.delete(threadId);
    runs.get(runId)!.lease = undefined;
  }

  function noteDeleted(runId: string): void {
    deletedRuns.add(runId);
    commands.delete(runs.get(runId)!.commandId);
  }

  function take(event: Recorded): void {
    commands.add(event.meta.commandId);
    switch (event.type) {
      case 'RunCreated': {
        const { runId, threadId, kwargs } = event.data;
        const { commandId } = event.meta;
        assert.ok(!runs.has(runId), `L4 run ${runId} was accepted twice`);
        const hasWebhook = kwargs.webhook !== undefined;
        runs.set(runId, { threadId, commandId, hasWebhook, attempts: 0, saved: [] });
        return;
      }
      case 'RunStarted': {
        const { runId, threadId, attempt, leaseId } = event.data;
        const run = runs.get(runId)!;
        assert.equal(executing.get(threadId), undefined, `X1 thread ${threadId} executes two runs`);
        assert.equal(attempt, run.attempts + 1, `X2 attempt ${attempt} of run ${runId} is not the next one`);
        assert.equal(run.outcome, undefined, `X3 run ${runId} started after its end`);
        executing.set(threadId, runId);
        if (attempt === 1) noteOrdinal(event, event.data);
        run.attempts = attempt;
        run.lease = { runId, attempt, leaseId };
        accounts.started(event.data);
        return;
      }
      case 'RunBegun':
        return accounts.begun(event.data.runId);
      case 'RunRequeued':
        accounts.requeued(event.data);
        return leave(event.data.runId, event.data.threadId);
      case 'RunCancelRequested':
        runs.get(event.data.runId)!.cancelAt ??= schedule.elapsed;
        return;
      case 'CheckpointSaved':
        runs.get(event.data.runId)!.saved.push(event.data.checkpointId);
        accounts.saved(event.data);
        return;
      case 'RunCompleted': {
        const { runId, threadId, outcome } = event.data;
        const run = runs.get(runId)!;
        assert.equal(run.outcome, undefined, `X3 run ${runId} ended twice`);
        run.outcome = outcome;
        if (run.attempts === 0) noteOrdinal(event, event.data);
        return leave(runId, threadId);
      }
      case 'StateUpdated':
        updates.set(event.data.updateId, event.data.threadId);
        return;
      case 'ThreadPruned':
        for (const runId of event.data.runs ?? []) noteDeleted(runId);
        return;
      case 'RunDeleted':
        noteDeleted(event.data.runId);
        return;
      case 'ThreadDeleted':
        deletedThreads.add(event.data.threadId);
        purged.set(event.meta.stream, event.meta.version);
        for (const { threadId, commandId } of runs.values())
          if (threadId === event.data.threadId) commands.delete(commandId);
        return;
      case 'WebhookOwed': {
        const { deliveryId, runId, url } = event.data;
        assert.ok(!deliveries.has(deliveryId), `W1 webhook ${deliveryId} is owed twice`);
        assert.ok(runs.get(runId)?.outcome, `W1 webhook ${deliveryId} is owed before its run ended`);
        deliveries.set(deliveryId, { runId, url, attempts: 0, status: 'owed' });
        owing.add(runId);
        return;
      }
      case 'WebhookForgotten':
        deliveries.delete(event.data.deliveryId);
        purged.set(event.meta.stream, event.meta.version);
        return;
      case 'ItemPut':
      case 'ItemRefreshed':
      case 'ItemDeleted':
        // Each fact of an item takes the place of the one before.
        purged.set(event.meta.stream, event.meta.version);
        return;
      case 'WebhookDelivered':
      case 'WebhookAttemptFailed': {
        const delivery = deliveries.get(event.data.deliveryId)!;
        delivery.attempts += 1;
        assert.equal(event.data.attempt, delivery.attempts, 'W1 attempts are counted one by one');
        assert.equal(delivery.status, 'owed', `W1 webhook ${event.data.deliveryId} was tried after its end`);
        if (event.type === 'WebhookDelivered') {
          delivery.status = 'delivered';
          onDelivered(event.data.deliveryId);
        } else if (event.data.nextAt === null) {
          assert.equal(delivery.attempts, PAUSES_MS.length + 1, 'W1 a webhook was given up too early');
          delivery.status = 'failed';
        }
      }
    }
  }

  return {
    hear(events) {
      heard.push(...events);
      events.forEach(take);
    },
    heard,
    purged,
    owing,
    runs,
    deliveries,
    commands,
    deletedThreads,
    deletedRuns,
    runsByOrdinal,
    hasVanished(id) {
      const run = runs.get(id);
      const isUndone = run?.outcome?.kind === 'rolled-back';
      return isUndone || deletedRuns.has(id) || deletedThreads.has(run?.threadId ?? updates.get(id) ?? '');
    },
  };
}
