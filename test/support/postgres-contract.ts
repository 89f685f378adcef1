/** What every log promises, of one in PostgreSQL: each test has a schema of its own. */
import { randomUUID } from 'node:crypto';
import { logContract, type LendLog } from './log-contract.ts';
import { payloadContract } from './payload-contract.ts';
import { openTestPostgres, withPostgres, type PostgresOptions } from './postgres.ts';
import { shared } from './shared-server.ts';

export function postgresContract(name: string, options?: PostgresOptions): void {
  let url: () => string;
  const lend: LendLog = async (use) => {
    const faults: unknown[] = [];
    const log = await openTestPostgres(`${url()}?schema=s${randomUUID().replaceAll('-', '')}&pool=4`, {
      onFault: (error) => faults.push(error),
    });
    try {
      await use({ log, faults });
    } finally {
      await log.close();
    }
  };
  logContract(name, lend, (test) => {
    url = shared(test, (use) => withPostgres(use, options));
    payloadContract(test, lend);
  });
}
