/** SQL functions for a test of the reader thread: one that ends the thread which calls it. */
import type { SqlFunctions } from '../../../src/store/port/rows.ts';

export const sqlFunctions: SqlFunctions = {
  die() {
    process.exit(3);
  },
};
