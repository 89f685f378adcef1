import { checkpointContract } from '../support/checkpoint-contract.ts';
import { frameContract } from '../support/frame-contract.ts';
import { onPostgres } from '../support/payload-log.ts';
import { withPostgres } from '../support/postgres.ts';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';

const test = suite('store, content of the PostgreSQL log');
const lend = onPostgres(shared(test, withPostgres));
for (const contract of [frameContract, checkpointContract]) contract(test, lend);
test.run();
