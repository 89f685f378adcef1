import { randomUUID } from 'node:crypto';
import { logContract, type LendLog } from '../../support/log-contract.ts';
import { payloadContract } from '../../support/payload-contract.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';

let url: () => string;

async function lend(use: Parameters<LendLog>[0]): Promise<void> {
  const faults: unknown[] = [];
  const log = await openTestPostgres(`${url()}?schema=s${randomUUID().replaceAll('-', '')}&pool=4`, {
    onFault: (error) => faults.push(error),
  });
  try {
    await use({ log, faults });
  } finally {
    await log.close();
  }
}

logContract('the PostgreSQL log', lend, (test) => {
  url = shared(test, withPostgres);
  payloadContract(test, lend);
});
