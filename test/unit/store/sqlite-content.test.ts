import { checkpointContract } from '../../support/checkpoint-contract.ts';
import { frameContract } from '../../support/frame-contract.ts';
import { onSqlite } from '../../support/payload-log.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, content of the SQLite log');
for (const contract of [frameContract, checkpointContract]) contract(test, onSqlite);
test.run();
