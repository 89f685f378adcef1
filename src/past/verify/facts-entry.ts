/** The thread of `verifyFolder`: checks the facts of a log, which it opens read-only (R1). */
import { parentPort, workerData } from 'node:worker_threads';
import { openHistory } from '../../log/sqlite/history.ts';
import { containsJson } from '../../projections/filters.ts';
import { projection } from '../../projections/projection.ts';
import { checkFacts } from './facts.ts';
import type { FactsSetup } from './verify.ts';

const PAGE_EVENTS = 500;

const { dir } = workerData as FactsSetup;
const history = openHistory(dir, projection, { json_contains: containsJson });
try {
  const facts = await checkFacts(history, (take) => {
    for (let after = 0; ;) {
      const page = history.readAll(after, PAGE_EVENTS);
      if (page.length === 0 || !page.every(take)) return;
      after = page.at(-1)!.meta.position;
    }
  });
  parentPort!.postMessage(facts);
} finally {
  history.close();
}
