import { fakeProjection } from '../../support/fake-projection.ts';
import { logContract } from '../../support/log-contract.ts';
import { withLog } from '../../support/with-log.ts';

logContract('the SQLite log', (use) => withLog(use, { projection: fakeProjection() }));
