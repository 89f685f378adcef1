/**
 * The write path of all aggregates: load, decide, commit, and repeat after a concurrency conflict.
 *
 * L4 An unknown outcome throws: it is neither a refusal nor a reason to retry.
 */
import type { Json } from '../kernel/json.ts';
import { createMailbox, type Mailbox } from '../kernel/mailbox.ts';
import type { Batch, CommitResult, EventLog } from '../store/port/log.ts';
import { LogFull, LogUnavailable } from '../store/port/log-failures.ts';

export interface Loaded<S> {
  readonly state: S;
  readonly version: number;
}

/** Returned by an attempt whose commit met a concurrency conflict. */
export const CONFLICT = Symbol('concurrency conflict');

/** A run of another node may save several checkpoints while a command is decided. */
const MAX_ATTEMPTS = 50;

const PAGE_EVENTS = 100;

interface Fold<S, E> {
  readonly initial: S;
  evolve(state: S, event: E): S;
}

/** Loads a stream's state: its snapshot, and the fold of the few events behind it. */
export async function loadState<S, E>(
  log: EventLog,
  stream: string,
  { initial, evolve }: Fold<S, E>,
): Promise<Loaded<S>> {
  const snapshot = await log.loadSnapshot(stream);
  let state = snapshot === undefined ? initial : (snapshot.state as Json as S);
  let version = snapshot?.version ?? 0;
  for (;;) {
    const page = await log.readStream(stream, version + 1, PAGE_EVENTS);
    for (const event of page) {
      state = evolve(state, event as E);
      version = event.meta.version;
    }
    if (page.length < PAGE_EVENTS) return { state, version };
  }
}

/** As `loadState`, in one question where less than a page of events has happened since a known state. */
export async function reloadState<S, E>(
  log: EventLog,
  stream: string,
  fold: Fold<S, E>,
  { state, version }: Loaded<S>,
): Promise<Loaded<S>> {
  const page = version === 0 ? undefined : await log.readStream(stream, version + 1, PAGE_EVENTS);
  if (page === undefined || page.length === PAGE_EVENTS) return loadState(log, stream, fold);
  return {
    state: page.reduce((earlier, event) => fold.evolve(earlier, event as E), state),
    version: page.at(-1)?.meta.version ?? version,
  };
}

/**
 * Repeats `attempt` while it returns `CONFLICT`. Throws `LogUnavailable` after `MAX_ATTEMPTS` conflicts. `subject`
 * names the aggregate in the message.
 */
export async function untilCommitted<T>(
  subject: string,
  attempt: () => Promise<T | typeof CONFLICT>,
): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const answer = await attempt();
    if (answer !== CONFLICT) return answer;
  }
  throw new LogUnavailable(`${subject} changed ${MAX_ATTEMPTS} times while deciding`);
}

/** Throws `LogUnavailable` for an unknown outcome and `LogFull` for a full disk. */
export async function commit(
  log: EventLog,
  batch: Batch,
): Promise<Exclude<CommitResult, { kind: 'unknown-outcome' | 'not-done' }>> {
  const result = await log.commit(batch);
  if (result.kind === 'unknown-outcome') throw new LogUnavailable(result.cause);
  if (result.kind === 'not-done') throw new LogFull(result.cause);
  return result;
}

/** Runs work on one id sequentially. A mailbox exists only while it has work. */
export function createMailboxes(): <T>(id: string, work: () => Promise<T>) => Promise<T> {
  const mailboxes = new Map<string, Mailbox>();
  return async (id, work) => {
    const mailbox = mailboxes.get(id) ?? createMailbox();
    mailboxes.set(id, mailbox);
    try {
      return await mailbox.post(work);
    } finally {
      if (mailbox.idle) mailboxes.delete(id);
    }
  };
}
