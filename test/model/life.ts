/** A server's write path driven at random: commands right and wrong, several at once, and restarts at any moment. */
import assert from 'node:assert/strict';
import { createThreads, type Threads } from '../../src/actors/threads.ts';
import { createThreadMaintenance } from '../../src/actors/thread-maintenance.ts';
import { recoverRuns } from '../../src/effects/recovery.ts';
import type { Lease } from '../../src/store/port/log.ts';
import type { CheckpointText, PayloadWrite } from '../../src/store/port/payloads.ts';
import type { NewRun, ThreadCommand } from '../../src/thread/decide.ts';
import { threadStream, type Outcome } from '../../src/thread/events.ts';
import { ask, SUCCESS } from '../support/given.ts';
import { batch } from '../support/batches.ts';
import { createRandom } from '../support/random.ts';
import { seededIds, type TestLog } from '../support/with-log.ts';
import { createObserver, type Observer } from './observer.ts';

export interface Life {
  /** Does something, or several things at once, and returns what; checks everything afterwards. */
  step(): Promise<void>;
  /** What was done so far, one line each. */
  readonly done: readonly string[];
  readonly observer: Observer;
  /** Threads that are alive, or were never made. */
  readonly threadIds: readonly string[];
}

const OUTCOMES: Outcome[] = [
  SUCCESS,
  { kind: 'success', next: ['ask'], interrupts: { t: [] } },
  { kind: 'error', error: 'E', message: 'm' },
  { kind: 'timeout', message: 'm' },
  { kind: 'cancelled', reason: 'asked' },
];

export function startLife(given: TestLog, seed: number): Life {
  const random = createRandom(seed);
  const ids = seededIds(given.clock, random);
  const observer = createObserver();
  const done: string[] = [];
  const threadIds = Array.from({ length: 3 }, ids.uuid);
  const known: { runId: string; threadId: string }[] = [];
  const leases: (Lease & { threadId: string })[] = [];
  const nextFrames = new Map<string, number>();
  let writers: Threads[] = [];
  let alone = false;

  function open(): void {
    given.log.onCommitted(({ events }) => observer.hear(events));
    const webhooks = { enabled: true, render: () => '{}' };
    const make = (capacity: number): Threads =>
      createThreads({ log: given.log, clock: given.clock, ids, webhooks, capacity });
    // Fewer actors than threads in every other life, and in every fourth a second writer of the same log.
    writers = [make(seed % 2 === 0 ? 2 : 10), ...(seed % 4 === 0 ? [make(10)] : [])];
  }

  async function dispatch(
    threadId: string,
    command: ThreadCommand,
    payloads: PayloadWrite[] = [],
    lease?: Lease,
    expectedVersion?: number,
  ) {
    const writer = random.chance(0.8) ? 0 : writers.length - 1;
    const result = await writers[writer]!.dispatch(threadId, [command], {
      payloads,
      ...(lease && { lease }),
      ...(expectedVersion !== undefined && { expectedVersion }),
    });
    const answer = result.ok ? result.events.map(({ type }) => type).join('+') : result.refusal.code;
    const text = Object.values(command).filter((value) => typeof value !== 'object');
    done.push(`${threadId} by ${writer}: ${text.join(' ')} -> ${answer}`);
    if (!result.ok) observer.counts['refused'] = (observer.counts['refused'] ?? 0) + 1;
    return result;
  }

  function createRun(): Promise<unknown> {
    const again = alone && random.chance(0.1) && known.length > 0 ? random.pick(known) : undefined;
    const { runId, threadId } = again ?? { runId: ids.uuid(), threadId: random.pick(threadIds) };
    const more: Partial<NewRun> = {
      notBefore: random.chance(0.2) ? given.clock.now() + random.int(1, 2_000) : 0,
      kwargs: {
        ...{ input: null, config: {}, streamMode: [], streamSubgraphs: false },
        ...(random.chance(0.4) && { webhook: 'https://example.com' }),
      },
    };
    const strategy = random.pick(['reject', 'enqueue', 'enqueue', 'interrupt', 'rollback'] as const);
    // A run that ended is never made again: its id is the server's own.
    if (again === undefined) known.push({ runId, threadId });
    else if (given.rows.get('SELECT 1 AS x FROM secrets WHERE run_id = @runId', { runId }) === undefined)
      return Promise.resolve();
    return dispatch(threadId, ask.createRun(runId, strategy, more), [
      { kind: 'secret', runId, threadId, data: '{}' },
    ]);
  }

  async function startRun(): Promise<void> {
    const claimable = await given.log.views.runs.claimable(given.clock.now(), 10);
    if (claimable.length === 0 && random.chance(0.7)) return given.clock.advance(random.int(1, 1_500));
    // A run that has begun is next in any case. One that executes may be requeued by what is done at the same time.
    const begun = given.rows.all<{ thread_id: string }>(
      `SELECT thread_id FROM runs WHERE attempt > 0 AND (status = 'pending' OR (status = 'running' AND @alone = 0))`,
      { alone: alone ? 1 : 0 },
    );
    const busy = new Set([
      ...claimable.map(({ threadId }) => threadId),
      ...begun.map(({ thread_id }) => thread_id),
    ]);
    // Starting another run of a thread than the next one is something that the machine allows and nobody does.
    const wrong = known.filter(({ threadId }) => !busy.has(threadId));
    const isHonest = claimable.length > 0 && (wrong.length === 0 || random.chance(0.9));
    if (!isHonest && wrong.length === 0) return;
    const { runId, threadId } = random.pick(isHonest ? claimable : wrong);
    const leaseId = ids.token();
    const result = await dispatch(threadId, ask.start(runId, leaseId));
    const [started] = result.ok ? result.events : [];
    if (started?.type === 'RunStarted')
      leases.push({ runId, threadId, leaseId, attempt: started.data.attempt });
  }

  const isCurrent = ({ runId, leaseId }: Lease): boolean =>
    given.rows.get('SELECT 1 AS x FROM leases WHERE run_id = @runId AND lease_id = @leaseId', {
      ...{ runId, leaseId },
    }) !== undefined;

  async function asExecutor(): Promise<unknown> {
    if (leases.length === 0) return undefined;
    const running = leases.filter(isCurrent);
    const held = running.length > 0 && random.chance(0.85) ? random.pick(running) : random.pick(leases);
    const spoilt = random.chance(0.07) ? { ...held, leaseId: 'nobody' } : held;
    const { runId, threadId, attempt, leaseId } = spoilt;
    const lease = { runId, attempt, leaseId };
    switch (
      random.pick([
        'begin',
        'save',
        'save',
        'save',
        'save',
        'emit',
        'requeue',
        'complete',
        'complete',
        'complete',
      ])
    ) {
      case 'begin':
        return dispatch(threadId, ask.begin(runId, attempt, leaseId), [], lease);
      case 'save': {
        const checkpointId = ids.uuid();
        return dispatch(
          threadId,
          ask.save(runId, checkpointId, attempt, leaseId),
          [{ kind: 'checkpoint', threadId, runId, checkpoint: checkpointOf(checkpointId) }],
          random.chance(0.8) ? lease : undefined,
        );
      }
      case 'emit': {
        // As an execution does it: its ids go on after those of earlier attempts, and are counted in memory.
        const key = `${runId} ${attempt} ${leaseId}`;
        const last = await given.log.payloads.lastFrame(runId);
        const first = nextFrames.get(key) ?? last + 1;
        nextFrames.set(key, first + 1);
        const frames = [{ event: 'values', data: '{}' }];
        const result = await given.log.commit(
          batch([], { lease, payloads: [{ kind: 'frames', runId, threadId, first, frames }] }),
        );
        return done.push(`frame of ${runId} ${attempt} -> ${result.kind}`);
      }
      case 'requeue':
        return dispatch(threadId, ask.requeue(runId, attempt, leaseId), [], lease);
      default:
        return dispatch(threadId, ask.complete(runId, random.pick(OUTCOMES), attempt, leaseId), [], lease);
    }
  }

  /** Worked out on the thread as it is, or as it was a moment ago. */
  async function updateState(threadId: string): Promise<unknown> {
    const [updateId, checkpointId] = [ids.uuid(), ids.uuid()];
    const { version = 0 } = (await given.log.loadSnapshot(threadStream(threadId))) ?? {};
    const expectedVersion = random.chance(0.2) ? version - 1 : version;
    return dispatch(
      threadId,
      ask.updateState(updateId, checkpointId),
      [{ kind: 'checkpoint', threadId, runId: updateId, checkpoint: checkpointOf(checkpointId) }],
      undefined,
      expectedVersion,
    );
  }

  async function reopen(): Promise<void> {
    await given.reopen();
    open();
    done.push('reopened');
    observer.counts['reopened'] = (observer.counts['reopened'] ?? 0) + 1;
    if (random.chance(0.6)) await recoverRuns(given.log, writers[0]!, { maxCharges: 3 });
  }

  function something(): Promise<unknown> {
    const roll = random.int(1, 100);
    const [threadId, run] = [
      random.pick(threadIds),
      known.length > 0 ? random.pick(known.slice(-4)) : undefined,
    ];
    if (roll <= 3) return dispatch(threadId, ask.createThread({}, threadId));
    if (roll <= 6) return dispatch(threadId, ask.updateThread({ roll }));
    if (roll <= 9) return updateState(threadId);
    if (roll <= 14) return tidy(threadId, run?.runId);
    if (roll <= 30) return createRun();
    if (roll <= 48) return startRun();
    if (roll <= 88) return asExecutor();
    if (roll <= 93 && run)
      return dispatch(run.threadId, ask.cancel(run.runId, random.pick(['interrupt', 'rollback'])));
    if (roll <= 95 && run) return dispatch(run.threadId, ask.abandon(run.runId));
    if (roll <= 97) return remove(threadId);
    return given.clock.advance(random.int(1, 1_500));
  }

  /** The thread is pruned, or a run of it deleted. */
  async function tidy(threadId: string, runId: string | undefined): Promise<void> {
    const maintenance = createThreadMaintenance({
      log: given.log,
      threads: random.pick(writers),
      deltaBasesOf: () => [],
    });
    const result =
      runId === undefined || random.chance(0.4)
        ? await maintenance.keepLatest(threadId)
        : await maintenance.deleteRun(known.find((each) => each.runId === runId)!.threadId, runId);
    done.push(`${threadId} tidied of ${runId} -> ${result.ok ? result.events.length : result.refusal.code}`);
    if (!result.ok) observer.counts['refused'] = (observer.counts['refused'] ?? 0) + 1;
  }

  /** A deleted thread stays so; another one takes its place. */
  async function remove(threadId: string): Promise<void> {
    const result = await dispatch(threadId, ask.deleteThread());
    if (!result.ok) return;
    const next = ids.uuid();
    threadIds.splice(threadIds.indexOf(threadId), 1, next);
    if (random.chance(0.8)) await dispatch(next, ask.createThread({}, next));
  }

  async function dump(): Promise<string> {
    return given.past((_, rows) => {
      const tables = rows.all<{ name: string }>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('opened', 'meta')`,
      );
      return JSON.stringify(tables.map(({ name }) => rows.all(`SELECT * FROM ${name}`)));
    });
  }

  open();
  return {
    done,
    observer,
    threadIds,
    async step() {
      if (done.length === 0) for (const id of threadIds) await dispatch(id, ask.createThread({}, id));
      alone = random.chance(0.8);
      if (random.chance(0.04)) await reopen();
      else if (!alone) await Promise.all(Array.from({ length: random.int(2, 5) }, something));
      else {
        const [before, refused] = [await dump(), observer.counts['refused']];
        await something();
        if (observer.counts['refused'] !== refused)
          assert.equal(await dump(), before, `D3 a refusal wrote something: ${done.at(-1)}`);
      }
      await given.log.commit(batch([]));
      await given.past(async (history, rows) => {
        await observer.check(history, rows, given.clock.now());
        if (random.chance(0.2)) await observer.verify(history);
      });
    },
  };
}

const checkpointOf = (checkpointId: string): CheckpointText => ({
  ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: {} },
  valueChannels: ['at', 'empty'],
  channelVersions: { at: checkpointId, empty: '0' },
  blobs: [{ channel: 'at', version: checkpointId, data: JSON.stringify(checkpointId) }],
});
