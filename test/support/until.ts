/** Waits for what only another process can tell: it is asked again and again. Fails with `what` after so many tries. */
import * as assert from 'uvu/assert';

const PAUSE_MS = 20;

export async function until(what: string, done: () => Promise<boolean>, mostTries = 1_500): Promise<void> {
  for (let tries = 0; !(await done()); tries++) {
    assert.ok(tries < mostTries, what);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
