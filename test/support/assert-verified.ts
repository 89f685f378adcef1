/** Apart from `with-server.ts`, whose server and client take half a second to load. */
import assert from 'node:assert/strict';
import { storeAt } from '../../src/open-store.ts';
import { verify } from '../../src/past/verify/verify.ts';

/** Fails unless the log of a folder or database agrees with itself. */
export async function assertVerified(address: string, keys?: readonly string[]): Promise<void> {
  const history = await storeAt(address, keys).openPast();
  try {
    const { finding } = await verify(history);
    assert.equal(finding, undefined);
  } finally {
    await history.close();
  }
}
