/**
 * The write path of crons: a command becomes a fact, or a refusal; a slot that is due becomes a run.
 *
 * D1 Every change of a cron passes through here, or through the deletion of what it belongs to. D3 A refusal is a value
 * and writes nothing. L1 A slot and its run are one commit: there is never one without the other, and never two. L4 An
 * unknown outcome is an exception. Commands of one cron are decided one at a time; a version conflict is decided anew.
 */
import {
  decide,
  findDueSlot,
  type CatchUp,
  type CronCommand,
  type CronRefusal,
  type DueSlot,
} from '../cron/decide.ts';
import { cronStream, type CronEvent } from '../cron/events.ts';
import { evolve, initial, type CronState, type LivingCron } from '../cron/state.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import { createMailbox, type Mailbox } from '../kernel/mailbox.ts';
import type { Append, EventLog } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import { deletionOf } from './cron-deletion.ts';
import { assertAnswered, LogUnavailable } from './log-failures.ts';

export type CronDispatched =
  { readonly ok: true; readonly state: CronState } | { readonly ok: false; readonly refusal: CronRefusal };

/** A run to create on `threadId`, in one commit with `slotFact`. */
export interface CronOrder {
  readonly cron: LivingCron;
  readonly runId: string;
  /** A new one where the cron has no thread. */
  readonly threadId: string;
  readonly slotFact: Append;
}

/**
 * `outpaced`: the cron has changed meanwhile. `refused`: there will be no run of this slot. `gone`: nor of any other,
 * because the cron's thread or assistant is not there any more.
 */
export type CronStarted =
  { readonly kind: 'started' | 'outpaced' | 'gone' } | { readonly kind: 'refused'; readonly reason: string };

/** Rejects when it cannot be said now. */
export type StartCronRun = (order: CronOrder) => Promise<CronStarted>;

export interface Crons {
  /** Throws `LogUnavailable` when the outcome is unknown, `LogFull`; never rejects for a refusal. */
  dispatch(
    cronId: string,
    command: CronCommand,
    options?: { readonly payloads?: readonly PayloadWrite[] },
  ): Promise<CronDispatched>;
  /** Deals with one slot that is due. False: there is none. Rejects as `start` does, and the slot stays due. */
  fire(cronId: string, start: StartCronRun): Promise<boolean>;
}

export interface CronsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly catchUp: CatchUp;
}

const MOST_CONFLICTS = 5;
const PAGE = 500;

export function createCrons({ log, clock, ids, catchUp }: CronsOptions): Crons {
  /** Of crons that somebody waits for; the state itself is read anew for every command. */
  const mailboxes = new Map<string, Mailbox>();

  async function inMailbox<T>(cronId: string, work: () => Promise<T>): Promise<T> {
    const mailbox = mailboxes.get(cronId) ?? createMailbox();
    mailboxes.set(cronId, mailbox);
    try {
      return await mailbox.post(work);
    } finally {
      if (mailbox.idle) mailboxes.delete(cronId);
    }
  }

  async function perform(
    cronId: string,
    command: CronCommand,
    payloads: readonly PayloadWrite[] = [],
  ): Promise<CronDispatched> {
    const commandId = ids.uuid();
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const { state, version } = await load(cronId);
      const decided = decide(command, state);
      if (!decided.ok) return decided;
      const { event } = decided;
      const going = event.type === 'CronDeleted' ? deletionOf([{ cronId, version }]) : undefined;
      const result = await log.commit({
        commandId,
        appends: going?.appends ?? [appendOf(state, version, event)],
        payloads: [...payloads, ...(going?.payloads ?? [])],
      });
      assertAnswered(result);
      if (result.kind === 'committed') return { ok: true, state: evolve(state, event) };
    }
    throw new LogUnavailable(`cron ${cronId} changed ${MOST_CONFLICTS} times while deciding`);
  }

  async function fire(cronId: string, start: StartCronRun): Promise<boolean> {
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const { state, version } = await load(cronId);
      if (state.status !== 'living') return false;
      const due = findDueSlot(state, clock.now(), catchUp);
      if (due === undefined) return false;
      if (!due.runs) return pass(cronId, due, 'missed');
      const runId = ids.uuid();
      const threadId = state.content.threadId ?? ids.uuid();
      const decided = decide({ type: 'TakeSlot', due, by: { runId, threadId } }, state);
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
        case 'outpaced':
          break;
      }
    }
    throw new LogUnavailable(`cron ${cronId} changed ${MOST_CONFLICTS} times while it was due`);
  }

  /** A slot that somebody else took meanwhile is as good. */
  async function pass(cronId: string, due: DueSlot, reason: string): Promise<boolean> {
    await perform(cronId, { type: 'TakeSlot', due, by: { reason } });
    return true;
  }

  /** The last commit's snapshot, and the facts after it, should one have come without. */
  async function load(cronId: string): Promise<{ state: CronState; version: number }> {
    const stream = cronStream(cronId);
    const snapshot = await log.loadSnapshot(stream);
    let state = snapshot === undefined ? initial : (snapshot.state as Json as unknown as CronState);
    let version = snapshot?.version ?? 0;
    for (;;) {
      const events = await log.readStream(stream, version + 1, PAGE);
      for (const event of events) state = evolve(state, event as CronEvent);
      const last = events.at(-1);
      if (last === undefined) return { state, version };
      version = last.meta.version;
    }
  }

  return {
    dispatch: (cronId, command, { payloads } = {}) =>
      inMailbox(cronId, () => perform(cronId, command, payloads)),
    fire: (cronId, start) => inMailbox(cronId, () => fire(cronId, start)),
  };
}

const appendOf = (state: CronState, version: number, event: CronEvent): Append => {
  const snapshot = evolve(state, event) as unknown as Json;
  const { cronId } = event.data;
  return { stream: cronStream(cronId), expected: version, events: [event], snapshot };
};
