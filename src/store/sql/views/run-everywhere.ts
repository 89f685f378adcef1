/** Runs of all threads, in the order of their ids, which begin with the time at which they were made. */
import type { Filter } from '../../../kernel/filter.ts';
import type { RunsEverywhere } from '../../port/views/runs.ts';
import type { RunRef } from '../../../thread/events.ts';
import type { Scan } from '../ask.ts';
import { ofThread } from './any-thread.ts';
import { conditionOf, judge, metadataFilter, passes, type Where } from './filters.ts';
import { toRunRef, type RunRefRow } from './run-record.ts';

interface FoundRow extends RunRefRow {
  readonly status: string;
  readonly temporary: number;
  readonly of_thread: string;
}

const OPEN: readonly string[] = ['pending', 'running'];

export const EVERYWHERE: Scan<[RunsEverywhere, Filter | undefined], RunRef[]> = {
  name: 'runs.everywhere',
  async answer(ask, { statuses = [], threadMetadata, older, newer, limit }, filter) {
    const where: Where = { clauses: [], params: {} };
    const add = (clause: string, name: string, value: string | readonly string[] | undefined): void => {
      if (value === undefined || value.length === 0) return;
      where.clauses.push(clause);
      where.params[name] = value;
    };
    add(ask.dialect.oneOf('runs.status', 'statuses'), 'statuses', statuses);
    add('run_id < @older', 'older', older);
    add('run_id > @newer', 'newer', newer);
    // Open runs are few, and the queue knows their threads. SQLite keeps the order of a CROSS JOIN.
    const isOpen = statuses.length > 0 && statuses.every((status) => OPEN.includes(status));
    if (isOpen) where.clauses.push('runs.thread_id = queue.thread_id');
    const from = isOpen ? 'queue CROSS JOIN runs' : 'runs';
    const isBackwards = newer !== undefined && older === undefined;
    const wanted = metadataFilter(threadMetadata);
    const { rows } = await judge<FoundRow>(
      ask,
      {
        sql: `SELECT run_id, runs.thread_id AS thread_id, runs.status AS status,
            ${ofThread('runs', 'temporary')} AS temporary, ${ofThread('runs')} AS of_thread
          FROM ${from} WHERE ${conditionOf(where)} ORDER BY run_id ${isBackwards ? 'ASC' : 'DESC'}`,
        params: where.params,
      },
      ({ status, temporary, of_thread: metadata }) =>
        (temporary === 0 || (temporary === 1 && OPEN.includes(status))) &&
        passes(metadata, wanted) &&
        passes(metadata, filter),
      { limit, offset: 0, cap: limit },
    );
    const found = rows.map(toRunRef);
    return isBackwards ? found.reverse() : found;
  },
};
