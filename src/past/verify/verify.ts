/**
 * Checks a log against its invariants and reports the first position that breaks one: the facts (`facts.ts`), and P2
 * that rows rebuilt from them equal the live ones.
 */
import { availableParallelism } from 'node:os';
import type { OnProgress } from '../../kernel/progress.ts';
import { startWorker } from '../../kernel/worker.ts';
import { UnreadableEvent } from '../../log/events.ts';
import type { History } from '../../log/sqlite/history.ts';
import type { RowDifference } from '../../log/sqlite/row-comparison.ts';
import { checkFacts, type Facts, type Finding } from './facts.ts';

export type { Finding };

export interface Verified {
  readonly events: number;
  readonly streams: number;
  readonly finding: Finding | undefined;
}

/** Events between two reports of progress. */
const PROGRESS_EVENTS = 1_000;
/** Events of a log that is worth the start of a thread. */
const MIN_SHARED_EVENTS = 50_000;

export interface VerifyOptions {
  readonly onProgress?: OnProgress;
  /** Events from which on a second thread is started. */
  readonly minEvents?: number;
}

/** Reports damage of the log as a finding and never rejects because of it. */
export async function verify(history: History, onProgress: OnProgress = () => undefined): Promise<Verified> {
  const report = reporter(history, onProgress);
  let difference: RowDifference | undefined;
  // One pass serves facts and rows: much of the time of each goes into reading.
  const facts = await checkFacts(history, (take) => {
    difference = history.firstDifference((event) => {
      report();
      return take(event);
    });
  });
  return combine(facts, difference);
}

/**
 * Checks the log in a folder, on two threads when the log is long. If a server commits meanwhile, the threads see the log
 * at different moments, and each compares what it sees at one.
 */
export async function verifyFolder(
  dir: string,
  history: History,
  { onProgress, minEvents = MIN_SHARED_EVENTS }: VerifyOptions = {},
): Promise<Verified> {
  if (availableParallelism() < 2 || history.eventCount() < minEvents) return verify(history, onProgress);
  const worker = startWorker('past/verify/facts-entry', { dir } satisfies FactsSetup);
  const facts = new Promise<Facts>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread that checks events ended with ${code}`)));
  });
  // Awaited below; until then a rejection is not unhandled.
  facts.catch(() => undefined);
  const report = reporter(history, onProgress);
  const rows = attempt(() =>
    history.firstDifference(() => {
      report();
      return true;
    }),
  );
  const { finding, ...rest } = await facts;
  // Rows cannot be made of events that break a rule, so what the facts say comes first.
  if (finding === undefined && 'error' in rows && !(rows.error instanceof UnreadableEvent)) throw rows.error;
  return combine({ finding, ...rest }, 'error' in rows ? undefined : rows.value);
}

/** Setup of the thread that checks the facts. */
export interface FactsSetup {
  readonly dir: string;
}

function combine({ events, streams, ...facts }: Facts, difference: RowDifference | undefined): Verified {
  const finding = facts.finding ?? (difference && toFinding(difference)) ?? facts.payloadFinding;
  return { events, streams, finding };
}

function reporter(history: History, onProgress: OnProgress = () => undefined): () => void {
  const total = history.eventCount();
  let done = 0;
  return () => {
    if (done % PROGRESS_EVENTS === 0) onProgress({ phase: 'checking events', done, total, unit: 'events' });
    done += 1;
  };
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function toFinding({ table, key, position, live, rebuilt }: RowDifference): Finding {
  const sides = `live ${JSON.stringify(live ?? null)}, rebuilt ${JSON.stringify(rebuilt ?? null)}`;
  return { position, problem: `${table} ${key} differs: ${sides}` };
}
