/** The context of work on PostgreSQL. */
import type { Coder } from '../sql/coder.ts';
import type { SharedContext, WorkContext } from '../sql/work.ts';

export const contextOf = (coder: Coder): WorkContext => ({
  ...{ coder, order: 'seq', lockRows: 'FOR SHARE', takeRows: 'FOR UPDATE', shared: SHARED_CONTEXT },
  shownId: (column) => column,
  bytes: (column) => column,
  listed: (list) => `json_array_elements_text(${list}::json)`,
  gathered: (value) => `coalesce(json_agg(DISTINCT ${value})::text, '[]')`,
});

export const SHARED_CONTEXT: SharedContext = {
  clock: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
};
