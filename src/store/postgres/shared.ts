/** What the statements of nodes need to know of PostgreSQL. */
import type { SharedContext } from '../sql/work.ts';

export const SHARED_CONTEXT: SharedContext = {
  clock: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
};
