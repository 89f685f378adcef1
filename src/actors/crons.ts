/**
 * The write path of crons: turns a command into an event or a refusal, and a due slot into a run.
 *
 * D1 Every change of a cron passes through here, or through the deletion of its thread or assistant. D3 A refusal is a
 * value and writes nothing. L1 A slot and its run share one commit, so each slot starts at most one run. L4 An unknown
 * outcome throws. Commands of one cron are decided one at a time; a conflict is decided anew.
 */
import {
  decide,
  findDueSlot,
  type CatchUp,
  type CronCommand,
  type CronRefusal,
  type DueSlot,
} from '../cron/decide.ts';
import { cronStream, MISSED, type CronEvent } from '../cron/events.ts';
import { evolve, initial, type CronState, type LivingCron } from '../cron/state.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { Append, EventLog } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import { deletionOf } from './cron-deletion.ts';
import { commit, CONFLICT, createMailboxes, loadState, untilCommitted } from './aggregate.ts';

export type CronDispatched =
  /** `at`: time of the change, in milliseconds since 1970. */
  | { readonly ok: true; readonly state: CronState; readonly at: number }
  | { readonly ok: false; readonly refusal: CronRefusal | { readonly code: 'concurrency-conflict' } };

/** A run to create on `threadId` in one commit with `slotFact`. */
export interface CronOrder {
  readonly cron: LivingCron;
  readonly runId: string;
  /** A new thread's id where the cron has no thread. */
  readonly threadId: string;
  readonly slotFact: Append;
}

/**
 * `conflict`: the cron has changed meanwhile. `refused`: this slot starts no run. `gone`: no slot ever will, because
 * the cron's thread or assistant is deleted.
 */
export type CronStarted =
  { readonly kind: 'started' | 'conflict' | 'gone' } | { readonly kind: 'refused'; readonly reason: string };

/** Starts a cron's run. Rejects when that is impossible now, for example while the auth handler fails. */
export type StartCronRun = (order: CronOrder) => Promise<CronStarted>;

interface CronOptions {
  /** Identity of the caller (log/log.ts). */
  readonly by?: string | undefined;
  readonly payloads?: readonly PayloadWrite[];
  /** Appends to other streams in the same commit. A conflict there is refused as `concurrency-conflict`. */
  readonly extraAppends?: readonly Append[];
}

export interface Crons {
  /** Throws `LogUnavailable` when the outcome is unknown and `LogFull` on a full disk; never rejects for a refusal. */
  dispatch(cronId: string, command: CronCommand, options?: CronOptions): Promise<CronDispatched>;
  /** Handles one due slot; returns false when none is due. Rejects if `start` does, and the slot stays due. */
  fire(cronId: string, start: StartCronRun): Promise<boolean>;
}

export interface CronsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly catchUp: CatchUp;
}

export function createCrons({ log, clock, ids, catchUp }: CronsOptions): Crons {
  const inMailbox = createMailboxes();
  const load = (cronId: string) => loadState(log, cronStream(cronId), { initial, evolve });

  async function perform(
    cronId: string,
    command: CronCommand,
    { by, payloads = [], extraAppends = [] }: CronOptions = {},
  ): Promise<CronDispatched> {
    const commandId = ids.uuid();
    return untilCommitted(`cron ${cronId}`, async () => {
      const { state, version } = await load(cronId);
      // Read here, because the clock may be set while a command waits.
      const decided = decide(command, state, clock.now());
      if (!decided.ok) return decided;
      const { event } = decided;
      const deletion = event.type === 'CronDeleted' ? deletionOf([{ cronId, version }]) : undefined;
      const result = await commit(log, {
        commandId,
        by,
        appends: [...(deletion?.appends ?? [appendOf(state, version, event)]), ...extraAppends],
        payloads: [...payloads, ...(deletion?.payloads ?? [])],
      });
      if (result.kind === 'committed')
        return { ok: true, state: evolve(state, event), at: result.receipt.at };
      const isOther =
        result.kind === 'version-conflict' && extraAppends.some(({ stream }) => stream === result.stream);
      return isOther ? { ok: false, refusal: { code: 'concurrency-conflict' } } : CONFLICT;
    });
  }

  const fire = (cronId: string, start: StartCronRun): Promise<boolean> =>
    untilCommitted(`cron ${cronId}`, async () => {
      const { state, version } = await load(cronId);
      if (state.status !== 'living') return false;
      const now = clock.now();
      const due = findDueSlot(state, now, catchUp);
      if (due === undefined) return false;
      if (!due.runs) return pass(cronId, due, MISSED);
      const runId = ids.uuid();
      const threadId = state.content.threadId ?? ids.uuid();
      const decided = decide({ type: 'TakeSlot', due, by: { runId, threadId } }, state, now);
      if (!decided.ok) throw new Error(`cron ${cronId}: slot ${due.slot} is ${decided.refusal.code}`);
      const slotFact = appendOf(state, version, decided.event);
      const started = await start({ cron: state, runId, threadId, slotFact });
      switch (started.kind) {
        case 'started':
          return true;
        case 'refused':
          return pass(cronId, due, started.reason);
        case 'gone':
          await perform(cronId, { type: 'DeleteCron' });
          return false;
        case 'conflict':
          return CONFLICT;
      }
    });

  /** Records a slot without a run. If another writer recorded it first, the result is equivalent. */
  async function pass(cronId: string, due: DueSlot, reason: string): Promise<boolean> {
    await perform(cronId, { type: 'TakeSlot', due, by: { reason } });
    return true;
  }

  return {
    dispatch: (cronId, command, options) => inMailbox(cronId, () => perform(cronId, command, options)),
    fire: (cronId, start) => inMailbox(cronId, () => fire(cronId, start)),
  };
}

const appendOf = (state: CronState, version: number, event: CronEvent): Append => {
  const snapshot = evolve(state, event) as unknown as Json;
  const { cronId } = event.data;
  return { stream: cronStream(cronId), expected: version, events: [event], snapshot };
};
