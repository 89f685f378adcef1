/**
 * The write path of threads: a command becomes facts, or a refusal.
 *
 * D1 Every change of a thread passes through `dispatch`. D3 A refusal is a value and writes nothing. L4 An unknown
 * outcome is an exception and never a refusal. Commands of one thread are decided one at a time.
 */
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { Recorded } from '../log/events.ts';
import type { Append, Batch, EventLog, Lease, Receipt } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { Refusal, ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent } from '../thread/events.ts';
import type { ThreadState } from '../thread/state.ts';
import { commit, CONFLICT, untilCommitted, type Loaded } from './aggregate.ts';
import { derivedWrites, type WebhookPolicy } from './derived-writes.ts';
import { startableRun, type InlineStart, type InlineStarter } from './inline-start.ts';
import {
  loadThread,
  loadThreadActor,
  newThreadActor,
  type Decided,
  type ThreadActor,
} from './thread-actor.ts';
import { createThreadRegistry, type ActorCell } from './thread-registry.ts';

export type Dispatched =
  | { readonly ok: true; readonly events: readonly Recorded[]; readonly state: ThreadState }
  | { readonly ok: false; readonly refusal: Refusal };

export interface DispatchOptions {
  /** A run that is created may begin in the same commit, when an executor has room for it. */
  readonly startsAtOnce?: boolean;
  /**
   * The thread's id was drawn for these commands, so there is nothing to load. Counts when the first of them creates it,
   * and is harmless then when it is not so: the commit is refused.
   */
  readonly isNew?: boolean;
  /** Makes a repetition harmless; a new id is taken when absent. */
  readonly commandId?: string;
  /** What is committed with the facts; a function when it depends on which facts were decided. */
  readonly payloads?: readonly PayloadWrite[] | ((events: readonly ThreadEvent[]) => readonly PayloadWrite[]);
  /** Appends to other streams in the same commit; refused with `concurrency-conflict` when one of those went on. */
  readonly extraAppends?: readonly Append[];
  /** Tried on a full disk as well (log/log.ts). */
  readonly isVital?: boolean;
  /** X2: refused with `lease-stale` when this is no longer the run's lease at the moment of the commit. */
  readonly lease?: Lease;
  /** Refused with `thread-changed` when the thread's stream has another version. Any version when absent. */
  readonly expectedVersion?: number;
}

/** Makes the commands from what the thread is when they are decided; nothing of the thread changes meanwhile. */
export type Prepare = (state: ThreadState) => Promise<readonly ThreadCommand[]>;

export interface Threads {
  /** Throws `LogUnavailable` when the outcome is unknown, `LogFull`; never rejects for a refusal. */
  dispatch(
    threadId: string,
    commands: readonly ThreadCommand[] | Prepare,
    options?: DispatchOptions,
  ): Promise<Dispatched>;
  /**
   * Runs `use` while no command of the thread is decided here, for a commit of other streams that names the version;
   * again when it answers `CONFLICT`. `use` must not dispatch to the same thread.
   */
  runExclusive<T>(
    threadId: string,
    use: (thread: Loaded<ThreadState>) => Promise<T | typeof CONFLICT>,
  ): Promise<T>;
  /** The thread as the store has it. */
  read(threadId: string): Promise<ThreadState>;
  /** Sets the one starter of runs that may begin in the commit that creates them. The returned function removes it. */
  startInline(starter: InlineStarter): () => void;
}

export interface ThreadsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly webhooks: WebhookPolicy;
  /** Idle actors that stay in memory, about 4 KB each. */
  readonly capacity?: number;
}

const DEFAULT_CAPACITY = 4_000;

export function createThreads(options: ThreadsOptions): Threads {
  const { log, clock, ids, webhooks, capacity = DEFAULT_CAPACITY } = options;
  const registry = createThreadRegistry(capacity);
  let starter: InlineStarter | undefined;

  const actorIn = async (threadId: string, cell: ActorCell, isNew = false): Promise<ThreadActor> =>
    (cell.actor ??= isNew ? newThreadActor(threadId) : await loadThreadActor(log, threadId));

  /** After a change by another writer. */
  async function reload(threadId: string, cell: ActorCell): Promise<ThreadActor> {
    cell.actor?.stop();
    return (cell.actor = await loadThreadActor(log, threadId));
  }

  /** An append without facts writes nothing, and asks for the receipt of its command id. */
  async function receiptOf(
    commandId: string,
    { stream, version }: ThreadActor,
  ): Promise<Receipt | undefined> {
    const appends = [{ stream, expected: version, events: [] }];
    const result = await commit(log, { commandId, repeatable: true, appends });
    return result.kind === 'duplicate' ? result.receipt : undefined;
  }

  async function toBatch(
    { stream, version }: ThreadActor,
    commandId: string,
    { events, after }: Decided & { ok: true },
    options: DispatchOptions,
  ): Promise<Batch & { readonly payloads: readonly PayloadWrite[] }> {
    const { payloads = [], extraAppends = [], lease } = options;
    const isLed = lease !== undefined;
    const derived = await derivedWrites(events, version, { log, clock, webhooks, isLed });
    const own = typeof payloads === 'function' ? payloads(events) : payloads;
    const snapshot = after as unknown as Json;
    return {
      commandId,
      repeatable: options.commandId !== undefined,
      ...(options.isVital && { isVital: true }),
      appends: [{ stream, expected: version, events, snapshot }, ...extraAppends, ...derived.appends],
      payloads: [...own, ...derived.payloads],
      ...(lease && { lease }),
    };
  }

  /** The decision with the start of the run that it creates, where the run may begin at once. */
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
      return { ok: false, refusal: { code: 'thread-changed' } };
    const decided = actor.decide(typeof commands === 'function' ? await commands(actor.state) : commands);
    if (!decided.ok) {
      // A command that has already happened can look impossible.
      const earlier = options.commandId && (await receiptOf(options.commandId, actor));
      return earlier ? { ok: true, events: earlier.events, state: actor.state } : decided;
    }
    if (decided.events.length === 0) return { ok: true, events: [], state: actor.state };
    const { taken, start, isStarted } = withStart(actor, decided, options);
    let state: ThreadState | undefined;
    try {
      const batch = await toBatch(actor, commandId, taken, options);
      const payloads = isStarted ? [...batch.payloads, ...start!.payloads] : batch.payloads;
      const result = await commit(log, { ...batch, payloads });
      if (result.kind === 'fenced-out') return { ok: false, refusal: { code: 'lease-stale' } };
      if (result.kind === 'version-conflict') {
        const isOther = options.extraAppends?.some(({ stream }) => stream === result.stream);
        if (isOther) return { ok: false, refusal: { code: 'concurrency-conflict' } };
        await reload(threadId, cell);
        return CONFLICT;
      }
      const { events } = result.receipt;
      if (result.kind === 'duplicate')
        return { ok: true, events, state: (await reload(threadId, cell)).state };
      actor.absorb(taken.events);
      if (isStarted) state = actor.state;
      return { ok: true, events, state: actor.state };
    } finally {
      start?.settle(state);
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
          const { state, version } = await actorIn(threadId, cell);
          const answer = await use({ state, version });
          if (answer === CONFLICT) await reload(threadId, cell);
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
