/** SQL over all threads: those with rows, and those that runs carry (`rows/carried-threads.ts`). */

/** `condition`: on the row `t`. */
export const selectThreads = (condition: string, columns = 't.*'): string =>
  ['threads', 'carried_threads']
    .map((table) => `SELECT ${columns} FROM ${table} AS t WHERE ${condition}`)
    .join(' UNION ALL ');

/** A column, which is never NULL in a thread, of the thread that a row of `table` names; NULL without that thread. */
export const ofThread = (table: string, column = 'metadata'): string => {
  const [row, carried] = ['threads', 'carried_threads'].map(
    (from) => `(SELECT t.${column} FROM ${from} AS t WHERE t.thread_id = ${table}.thread_id)`,
  );
  return `coalesce(${row}, ${carried})`;
};
