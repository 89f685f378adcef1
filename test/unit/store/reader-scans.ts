/** Questions for tests of the reader thread. */
import type { Scan } from '../../../src/store/sql/ask.ts';
import { SCANS as REAL } from '../../../src/store/sql/views/views.ts';

/** Counts to `n` in windows, between which it can be interrupted. */
export const COUNTING: Scan<[number], number> = {
  name: 'test.counting',
  async answer(ask, n) {
    const sql =
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @n) SELECT i FROM n';
    let count = 0;
    for await (const window of ask.walk(sql, { n })) count += window.length;
    return count;
  },
};

/** Ends the thread that answers it. */
export const DYING: Scan<[], never> = {
  name: 'test.dying',
  answer: async () => process.exit(3),
};

export const SCANS = [...REAL, COUNTING, DYING];
