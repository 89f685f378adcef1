/**
 * The write path of threads: turns commands into events or a refusal.
 *
 * D1 Every change of a thread passes through `dispatch`. D3 A refusal is a value and writes nothing. L4 An unknown
 * outcome throws and is never a refusal. Commands of one thread are decided one at a time.
 */
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { Recorded } from '../store/port/events.ts';
import type { Append, Batch, EventLog, Lease, Receipt } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { Refusal, ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent } from '../thread/events.ts';
import { activeOf, earliestStart, isLiving, type ThreadState } from '../thread/state.ts';
import { commit, CONFLICT, untilCommitted, type Loaded } from './aggregate.ts';
import { derivedWrites, NOTHING_DERIVED, type WebhookPolicy } from './derived-writes.ts';
import { startableRun, type InlineStart, type InlineStarted, type InlineStarter } from './inline-start.ts';
import {
  loadThread,
  needsSnapshot,
  loadThreadActor,
  reloadThreadActor,
  newThreadActor,
  type Decided,
  type ThreadActor,
} from './thread-actor.ts';
import { createThreadRegistry, type ActorCell } from './thread-registry.ts';

export type Dispatched =
  | { readonly ok: true; readonly events: readonly Recorded[]; readonly state: ThreadState }
  | { readonly ok: false; readonly refusal: Refusal };

export interface DispatchOptions {
  /** Lets a created run start in the same commit when an executor has a free permit. */
  readonly startsAtOnce?: boolean;
  /**
   * The thread's id is new, so nothing is loaded. Applies only if the first command creates the thread; a wrong value
   * is harmless, because the commit then conflicts.
   */
  readonly isNew?: boolean;
  /** Identity of the caller (log/log.ts). */
  readonly by?: string | undefined;
  /** Idempotency key: a repeated id returns the first receipt. Absent: a new id. */
  readonly commandId?: string;
  /** Payloads of the same commit; a function when they depend on the decided events. */
  readonly payloads?: readonly PayloadWrite[] | ((events: readonly ThreadEvent[]) => readonly PayloadWrite[]);
  /** Appends to other streams in the same commit. A conflict there is refused as `concurrency-conflict`. */
  readonly extraAppends?: readonly Append[];
  /** The commit is tried even on a full disk (log/log.ts). */
  readonly isVital?: boolean;
  /**
   * The first events happened elsewhere, at these times (log/log.ts). Nothing is derived from any of the events: whatever
   * they caused was caused there.
   */
  readonly past?: { readonly times: readonly number[] };
  /** X2 Refused as `lease-stale` if this is not the run's lease at commit time. */
  readonly lease?: Lease;
  /** Whether the run of the lease has a webhook, which its executor knows. Absent: the log is asked. */
  readonly owesWebhook?: boolean;
  /** Refused as `thread-changed` if the stream has another version. Absent: any version. */
  readonly expectedVersion?: number;
}

/** Builds commands from the thread's state; the thread does not change meanwhile. */
type Prepare = (state: ThreadState) => Promise<readonly ThreadCommand[]>;

export interface Threads {
  /** Throws `LogUnavailable` when the outcome is unknown and `LogFull` on a full disk; never rejects for a refusal. */
  dispatch(
    threadId: string,
    commands: readonly ThreadCommand[] | Prepare,
    options?: DispatchOptions,
  ): Promise<Dispatched>;
  /**
   * Runs `use` while no command of the thread is decided, for commits of other streams that depend on its version.
   * Repeats it when it returns `CONFLICT`. `use` must not dispatch to the same thread.
   */
  runExclusive<T>(
    threadId: string,
    use: (thread: Loaded<ThreadState>) => Promise<T | typeof CONFLICT>,
  ): Promise<T>;
  /** Reads the thread's state from the log. */
  read(threadId: string): Promise<ThreadState>;
  /** Sets the starter for inline starts, replacing any other. The returned function removes it. */
  startInline(starter: InlineStarter): () => void;
}

export interface ThreadsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly webhooks: WebhookPolicy;
  /** Idle actors kept in memory, about 4 KB each. */
  readonly capacity?: number;
}

const DEFAULT_CAPACITY_ACTORS = 4_000;

export function createThreads(options: ThreadsOptions): Threads {
  const { log, clock, ids, webhooks, capacity = DEFAULT_CAPACITY_ACTORS } = options;
  const registry = createThreadRegistry(capacity);
  let starter: InlineStarter | undefined;

  const actorIn = async (threadId: string, cell: ActorCell, isNew = false): Promise<ThreadActor> =>
    (cell.actor ??= isNew ? newThreadActor(threadId) : await loadThreadActor(log, threadId));

  /** Replaces the cell's actor after another writer changed the thread. */
  async function reload(cell: ActorCell): Promise<ThreadActor> {
    const known = cell.actor!;
    known.stop();
    return (cell.actor = await reloadThreadActor(log, known));
  }

  /**
   * D3 Reloads an actor that another node has left behind: a refusal, or a decision that nothing has to change, writes
   * nothing that would conflict.
   */
  async function hasMoved(cell: ActorCell): Promise<boolean> {
    const { stream, version } = cell.actor!;
    if (!log.nodes.isShared || (await log.streamVersion(stream)) <= version) return false;
    await reload(cell);
    return true;
  }

  /** Reads the receipt of a command id through an append without events, which writes nothing. */
  async function receiptOf(
    commandId: string,
    { stream, version }: ThreadActor,
  ): Promise<Receipt | undefined> {
    const appends = [{ stream, expected: version, events: [] }];
    const result = await commit(log, { commandId, repeatable: true, appends });
    return result.kind === 'duplicate' ? result.receipt : undefined;
  }

  async function toBatch(
    threadId: string,
    { stream, version, state }: ThreadActor,
    commandId: string,
    { events, after }: Decided & { ok: true },
    options: DispatchOptions,
  ): Promise<Batch & { readonly payloads: readonly PayloadWrite[] }> {
    const { payloads = [], extraAppends = [], lease, owesWebhook, past, by } = options;
    const isTemporary = isLiving(state) && state.temporary;
    const own = typeof payloads === 'function' ? payloads(events) : payloads;
    const from = { log, clock, webhooks, lease, owesWebhook, isTemporary, payloads: own };
    const derived = past === undefined ? await derivedWrites(events, version, from) : NOTHING_DERIVED;
    const erases = derived.payloads.some(({ kind }) => kind === 'redact-runs');
    const isKept = !isTemporary && needsSnapshot(after, version, events.length, erases);
    const next = earliestStart(after);
    const holder = activeOf(after)?.incarnation;
    const queue =
      past !== undefined || next === earliestStart(state)
        ? []
        : [{ kind: 'queue', threadId, next, holder } as const];
    return {
      commandId,
      repeatable: options.commandId !== undefined,
      by,
      ...(options.isVital && { isVital: true }),
      ...(past && { isPast: true }),
      appends: [
        { stream, expected: version, events, ...(isKept && { snapshot: after as unknown as Json }), ...past },
        ...extraAppends,
        ...derived.appends,
      ],
      payloads: [...own, ...derived.payloads, ...queue],
      ...(lease && { lease }),
    };
  }

  /** Adds the start of the created run to the decision where the run may start at once. */
  function withStart(
    actor: ThreadActor,
    decided: Decided & { ok: true },
    { startsAtOnce = false }: DispatchOptions,
  ): { taken: Decided & { ok: true }; start?: InlineStart; isStarted: boolean } {
    const run = startsAtOnce ? startableRun(decided.events, decided.after, dueTime(clock)) : undefined;
    const start = run && starter?.(run);
    const started = start && actor.decide([start.command], decided);
    if (start === undefined || started === undefined) return { taken: decided, isStarted: false };
    return started.ok
      ? { taken: started, start, isStarted: true }
      : { taken: decided, start, isStarted: false };
  }

  async function attempt(
    threadId: string,
    cell: ActorCell,
    commandId: string,
    commands: readonly ThreadCommand[] | Prepare,
    options: DispatchOptions,
  ): Promise<Dispatched | typeof CONFLICT> {
    const isNew = options.isNew && typeof commands !== 'function' && commands[0]?.type === 'CreateThread';
    const actor = await actorIn(threadId, cell, isNew);
    if (options.expectedVersion !== undefined && options.expectedVersion !== actor.version)
      return (await hasMoved(cell)) ? CONFLICT : { ok: false, refusal: { code: 'thread-changed' } };
    const decided = actor.decide(typeof commands === 'function' ? await commands(actor.state) : commands);
    if (!decided.ok) {
      // A repeated command can be refused although it succeeded before, so its receipt is looked up.
      const earlier = options.commandId && (await receiptOf(options.commandId, actor));
      if (earlier === undefined && (await hasMoved(cell))) return CONFLICT;
      return earlier ? { ok: true, events: earlier.events, state: actor.state } : decided;
    }
    if (decided.events.length === 0)
      return (await hasMoved(cell)) ? CONFLICT : { ok: true, events: [], state: actor.state };
    const { taken, start, isStarted } = withStart(actor, decided, options);
    let started: InlineStarted | undefined;
    try {
      const batch = await toBatch(threadId, actor, commandId, taken, options);
      const payloads = isStarted ? [...batch.payloads, ...start!.payloads] : batch.payloads;
      const result = await commit(log, { ...batch, payloads });
      if (result.kind === 'fenced-out') return { ok: false, refusal: { code: 'lease-stale' } };
      if (result.kind === 'version-conflict') {
        const isOther = options.extraAppends?.some(({ stream }) => stream === result.stream);
        if (isOther) return { ok: false, refusal: { code: 'concurrency-conflict' } };
        await reload(cell);
        return CONFLICT;
      }
      const { events } = result.receipt;
      // An import may bring 20,000 events: the state is loaded instead of folded a second time.
      if (result.kind === 'duplicate' || options.past !== undefined)
        return { ok: true, events, state: (await reload(cell)).state };
      actor.absorb(taken.events);
      if (isStarted) started = { state: actor.state, secret: secretIn(payloads) };
      return { ok: true, events, state: actor.state };
    } finally {
      start?.settle(started);
    }
  }

  return {
    dispatch: (threadId, commands, options = {}) =>
      registry.post(threadId, (cell) => {
        const commandId = options.commandId ?? ids.uuid();
        return untilCommitted(`thread ${threadId}`, () =>
          attempt(threadId, cell, commandId, commands, options),
        );
      }),
    runExclusive: (threadId, use) =>
      registry.post(threadId, (cell) =>
        untilCommitted(`thread ${threadId}`, async () => {
          await actorIn(threadId, cell);
          await hasMoved(cell);
          const { state, version } = cell.actor!;
          const answer = await use({ state, version });
          if (answer === CONFLICT) await reload(cell);
          return answer;
        }),
      ),
    read: async (threadId) => (await loadThread(log, threadId)).state,
    startInline(added) {
      starter = added;
      return () => {
        if (starter === added) starter = undefined;
      };
    },
  };
}

const secretIn = (payloads: readonly PayloadWrite[]): string | undefined =>
  payloads.find((write) => write.kind === 'secret')?.data;
