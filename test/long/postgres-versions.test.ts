/** What a log promises, on each PostgreSQL that is older than the one of the other tests. */
import { postgresContract } from '../support/postgres-contract.ts';

for (const version of [15, 16, 17] as const)
  postgresContract(`the log on PostgreSQL ${version}`, { version });
