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

/** Reports damage of the log as a finding and never rejects because of it. */
export async function verify(history: History, onProgress: OnProgress = () => undefined): Promise<Verified> {
  const report = reporter(await history.eventCount(), onProgress);
  let difference: RowDifference | undefined;
  // One pass serves facts and rows: much of the time of each goes into reading.
  const facts = await checkFacts(history, async (take) => {
    difference = await history.firstDifference((page) => {
      report(page.length);
      return take(page);
    });
  });
  return combine(facts, difference);
}

function combine({ events, streams, ...facts }: Facts, difference: RowDifference | undefined): Verified {
  const finding = facts.finding ?? (difference && toFinding(difference)) ?? facts.payloadFinding;
  return { events, streams, finding };
}

function reporter(total: number, onProgress: OnProgress): (events: number) => void {
  let done = 0;
  return (events) => {
    onProgress({ phase: 'checking events', done, total, unit: 'events' });
    done += events;
  };
}

function toFinding({ table, key, position, live, rebuilt }: RowDifference): Finding {
  const sides = `live ${JSON.stringify(live ?? null)}, rebuilt ${JSON.stringify(rebuilt ?? null)}`;
  return { position, problem: `${table} ${key} differs: ${sides}` };
}
