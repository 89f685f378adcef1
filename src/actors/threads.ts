/**
 * The write path of threads: a command becomes facts, or a refusal.
 *
 * D1 Every change of a thread passes through `dispatch`. D3 A refusal is a value and writes nothing. L4 An unknown
 * outcome is an exception and never a refusal. Commands of one thread are decided one at a time; a version conflict
 * (another writer of the same log) is decided anew, here and nowhere else.
 */
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import { createMailbox, type Mailbox } from '../kernel/mailbox.ts';
import type { Recorded } from '../log/events.ts';
import type { Append, CommitResult, EventLog, Lease, Receipt } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { Refusal, ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent } from '../thread/events.ts';
import type { ThreadState } from '../thread/state.ts';
import { createVerdicts } from '../thread/verdicts.ts';
import { consequencesOf, type WebhookPolicy } from './consequences.ts';
import { startable, type Claimant } from './claims.ts';
import { assertAnswered, LogUnavailable } from './log-failures.ts';
import { loadThreadActor, newThreadActor, type Decided, type ThreadActor } from './thread-actor.ts';

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
  /** Facts of other streams for the same commit; refused with `outpaced` when one of those has gone on. */
  readonly alongside?: readonly Append[];
  /** Tried on a full disk as well (log/log.ts). */
  readonly isVital?: boolean;
  /** X2: refused with `lease-stale` when this is no longer the run's lease at the moment of the commit. */
  readonly lease?: Lease;
  /**
   * The version of the thread's stream that the commands were worked out on: refused with `thread-changed` when the
   * thread has gone on since. Without it they are decided on whatever the thread is then.
   */
  readonly workedOutOn?: number;
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
  /** Runs `use` while no command of the thread is decided. `use` must not dispatch to the same thread. */
  still<T>(threadId: string, use: (state: ThreadState) => Promise<T>): Promise<T>;
  /** Who is asked for runs that may start at once; one at a time. The returned function ends it. */
  claimWith(claimant: Claimant): () => void;
}

export interface ThreadsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly webhooks: WebhookPolicy;
  /** How many idle actors stay in memory. */
  readonly capacity?: number;
}

/** The one place of a thread: as long as anything waits in its mailbox there is no other. */
interface Seat {
  readonly mailbox: Mailbox;
  /** Loaded when it is first needed. */
  actor: ThreadActor | undefined;
}

const MOST_CONFLICTS = 5;

export function createThreads({ log, clock, ids, webhooks, capacity = 10_000 }: ThreadsOptions): Threads {
  // In order of use: the first is the one unused the longest.
  const seats = new Map<string, Seat>();
  const verdicts = createVerdicts();
  let claimant: Claimant | undefined;

  /** Posted to before anything is waited for: a seat that somebody is about to use never looks idle. */
  function seatOf(threadId: string): Seat {
    const seat = seats.get(threadId) ?? { mailbox: createMailbox(), actor: undefined };
    seats.delete(threadId);
    seats.set(threadId, seat);
    return seat;
  }

  function post<T>(threadId: string, work: (seat: Seat) => Promise<T>): Promise<T> {
    const seat = seatOf(threadId);
    const done = seat.mailbox.post(() => work(seat));
    if (seats.size > capacity) evict();
    return done;
  }

  /** Some more than have to go: the way to the first of a map is as long as what was deleted before it. */
  function evict(): void {
    const rest = capacity - (capacity >> 4);
    for (const [threadId, { mailbox }] of seats) {
      if (seats.size <= rest) return;
      if (mailbox.idle) seats.delete(threadId);
    }
  }

  /** In the seat's mailbox only, like everything that touches its actor. */
  const actorIn = async (threadId: string, seat: Seat, isNew = false): Promise<ThreadActor> =>
    (seat.actor ??= isNew
      ? newThreadActor(threadId, verdicts)
      : await loadThreadActor(log, threadId, verdicts));

  const reload = async (threadId: string, seat: Seat): Promise<ThreadActor> =>
    (seat.actor = await loadThreadActor(log, threadId, verdicts));

  /** An append without facts writes nothing, and asks for the receipt of its command id. */
  async function receiptOf(
    commandId: string,
    { stream, version }: ThreadActor,
  ): Promise<Receipt | undefined> {
    const appends = [{ stream, expected: version, events: [] }];
    const result = await log.commit({ commandId, repeatable: true, appends });
    assertAnswered(result);
    return result.kind === 'duplicate' ? result.receipt : undefined;
  }

  async function commit(
    { stream, version }: ThreadActor,
    commandId: string,
    { events, after }: Decided & { ok: true },
    options: DispatchOptions,
    more: readonly PayloadWrite[] = [],
  ): Promise<CommitResult> {
    const { payloads = [], alongside = [], lease } = options;
    const isLed = lease !== undefined;
    const extra = await consequencesOf(events, version, { log, clock, webhooks, isLed });
    const own = typeof payloads === 'function' ? payloads(events) : payloads;
    const snapshot = after as unknown as Json;
    return log.commit({
      commandId,
      repeatable: options.commandId !== undefined,
      ...(options.isVital && { isVital: true }),
      appends: [{ stream, expected: version, events, snapshot }, ...alongside, ...extra.appends],
      payloads: [...own, ...more, ...extra.payloads],
      ...(lease && { lease }),
    });
  }

  async function perform(
    threadId: string,
    seat: Seat,
    commands: readonly ThreadCommand[] | Prepare,
    options: DispatchOptions,
  ): Promise<Dispatched> {
    const commandId = options.commandId ?? ids.uuid();
    const isNew = options.isNew && typeof commands !== 'function' && commands[0]?.type === 'CreateThread';
    let actor = await actorIn(threadId, seat, isNew);
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      if (options.workedOutOn !== undefined && options.workedOutOn !== actor.version)
        return { ok: false, refusal: { code: 'thread-changed' } };
      const decided = actor.decide(typeof commands === 'function' ? await commands(actor.state) : commands);
      if (!decided.ok) {
        // What was done by the same command can look impossible, because it was done.
        const earlier = options.commandId && (await receiptOf(options.commandId, actor));
        return earlier ? { ok: true, events: earlier.events, state: actor.state } : decided;
      }
      if (decided.events.length === 0) return { ok: true, events: [], state: actor.state };
      const place = options.startsAtOnce === true && startable(decided.events, decided.after, dueTime(clock));
      const claim = place ? claimant?.(place) : undefined;
      const started = claim && actor.decide([claim.command], decided);
      const isStarted = started?.ok === true;
      const taken = isStarted ? started : decided;
      const result = await commit(actor, commandId, taken, options, isStarted ? claim?.payloads : []).catch(
        (error: unknown) => {
          claim?.settle();
          throw error;
        },
      );
      if (result.kind !== 'committed') claim?.settle();
      assertAnswered(result);
      switch (result.kind) {
        case 'committed':
          actor.absorb(taken.events);
          claim?.settle(isStarted ? actor.state : undefined);
          return { ok: true, events: result.receipt.events, state: actor.state };
        case 'duplicate':
          actor = await reload(threadId, seat);
          return { ok: true, events: result.receipt.events, state: actor.state };
        case 'fenced-out':
          return { ok: false, refusal: { code: 'lease-stale' } };
        case 'version-conflict':
          if (options.alongside?.some(({ stream }) => stream === result.stream))
            return { ok: false, refusal: { code: 'outpaced' } };
          actor = await reload(threadId, seat);
          break;
      }
    }
    throw new LogUnavailable(`thread ${threadId} changed ${MOST_CONFLICTS} times while deciding`);
  }

  return {
    dispatch: (threadId, commands, options = {}) =>
      post(threadId, (seat) => perform(threadId, seat, commands, options)),
    still: (threadId, use) => post(threadId, async (seat) => use((await actorIn(threadId, seat)).state)),
    claimWith(asked) {
      claimant = asked;
      return () => {
        if (claimant === asked) claimant = undefined;
      };
    },
  };
}
