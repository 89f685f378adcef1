/** What every log promises, of one in PostgreSQL. */
import { logContract, type LendLog } from './log-contract.ts';
import { payloadContract } from './payload-contract.ts';
import { openTestPostgres, withPostgres, type PostgresOptions } from './postgres.ts';
import { shared } from './shared-server.ts';
import { withSchema } from './test-database.ts';

export function postgresContract(name: string, options?: PostgresOptions): void {
  let url: () => string;
  const lend: LendLog = (use) =>
    withSchema(url(), async (address) => {
      const faults: unknown[] = [];
      const log = await openTestPostgres(address, { onFault: (error) => faults.push(error) });
      try {
        await use({ log, faults });
      } finally {
        await log.close();
      }
    });
  logContract(name, lend, (test) => {
    url = shared(test, (use) => withPostgres(use, options));
    payloadContract(test, lend);
  });
}
