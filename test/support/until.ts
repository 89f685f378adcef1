/** Waits for what only another process can tell: it is asked again and again. Fails with `what` after two minutes. */
import * as assert from 'uvu/assert';
import { scaled } from './scaled.ts';

const PAUSE_MS = 20;
/** Longer than a loaded machine needs, and shorter than a test may take. */
const MAX_TRIES = scaled(6_000);

export async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await done()); tries++) {
    assert.ok(tries < MAX_TRIES, what);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
