/**
 * Checks a log against its invariants and reports the first position that breaks one: the facts (`facts.ts`), and P2
 * that rows rebuilt from them equal the live ones.
 */
import type { OnProgress } from '../../kernel/progress.ts';
import type { Finding, History, RowDifference } from '../../store/port/past.ts';
import { checkFacts, type Facts } from './facts.ts';

export interface Verified {
  readonly events: number;
  readonly streams: number;
  readonly finding: Finding | undefined;
}

/** Events between two reports of progress. */
const PROGRESS_EVENTS = 1_000;
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

function toFinding({ table, key, position, live, rebuilt }: RowDifference): Finding {
  const sides = `live ${JSON.stringify(live ?? null)}, rebuilt ${JSON.stringify(rebuilt ?? null)}`;
  return { position, problem: `${table} ${key} differs: ${sides}` };
}
