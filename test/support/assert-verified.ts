/** Apart from `with-server.ts`, whose server and client take half a second to load. */
import assert from 'node:assert/strict';
import { openHistory } from '../../src/store/sqlite/history.ts';
import { verify } from '../../src/past/verify/verify.ts';
import { projection } from '../../src/store/sql/rows/projection.ts';

/** Fails unless the log of a data directory agrees with itself. */
export async function assertVerified(data: string, keys?: readonly string[]): Promise<void> {
  const history = openHistory(data, projection, keys);
  try {
    const { finding } = await verify(history);
    assert.equal(finding, undefined);
  } finally {
    history.close();
  }
}
