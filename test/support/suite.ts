/**
 * uvu's `suite`, with its holes closed. By itself uvu exits 0 when a hook throws, when a test throws something it
 * cannot print (null, a string, an error with an odd `details`), and waits for ever for a test that hangs.
 */
import { inspect } from 'node:util';
import { suite as uvuSuite } from 'uvu';
import { Assertion } from 'uvu/assert';
import { failedOf } from '../../scripts/test-output.ts';
import { scaled } from './scaled.ts';

export type Body = (context: Record<string, unknown>) => unknown;

export interface TestOptions {
  readonly timeoutMs?: number;
  /** What this machine lacks that the test cannot do without; the test is skipped then, and this is why. */
  readonly lacking?: string | undefined;
}

/**
 * A test or hook fails after `timeoutMs`, scaled for this machine: it ends what hangs. A test that never got its turn
 * fails the process as well.
 */
export function suite(name: string, { timeoutMs = 300_000 } = {}) {
  const inner = uvuSuite<Record<string, unknown>>(name);
  let due = 0;
  let failed = false;
  process.on('exit', () => {
    if (due > 0) console.error(`${name}: ${due} test(s) did not pass or never ran`);
    if (failed || due > 0) process.exitCode ||= 1;
  });

  const guard = (title: string, body: Body, limitMs: number) => async (context: Record<string, unknown>) => {
    const limit = scaled(limitMs);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`"${title}" took longer than ${limit} ms`)), limit);
    });
    try {
      await Promise.race([(async () => body(context))(), timeout]);
    } catch (thrown) {
      failed = true;
      console.log(failedOf(`${name}: ${title}`));
      if (title.startsWith('hook ')) console.error(`${name}: ${title} threw`, thrown);
      throw printable(thrown);
    } finally {
      clearTimeout(timer);
    }
  };
  const into =
    (add: typeof inner.only) =>
    (title: string, body: Body, given: number | TestOptions = {}) => {
      const options = typeof given === 'number' ? { timeoutMs: given } : given;
      if (options.lacking !== undefined) {
        // The runner of all tests looks for this line: a skip without a reason counts as a failure there.
        console.log(`skipped "${title}": ${options.lacking}`);
        return inner.skip(title, () => undefined);
      }
      due += 1;
      add(title, async (context) => {
        await guard(title, body, options.timeoutMs ?? timeoutMs)(context);
        due -= 1;
      });
    };
  const hook = (when: string, add: (body: (context: Record<string, unknown>) => Promise<void>) => void) => {
    return (body: Body) => add(guard(`hook ${when}`, body, timeoutMs));
  };
  return Object.assign(into(inner), {
    only: into(inner.only),
    skip: inner.skip,
    before: Object.assign(hook('before', inner.before), { each: hook('before.each', inner.before.each) }),
    after: Object.assign(hook('after', inner.after), { each: hook('after.each', inner.after.each) }),
    run: inner.run,
  });
}

/** uvu prints its own assertions with a diff and stumbles over much else: the rest becomes plain text. */
function printable(thrown: unknown): Error {
  if (thrown instanceof Assertion) return thrown;
  const error = new Error(thrown instanceof Error ? inspect(thrown) : `threw ${inspect(thrown)}`);
  error.stack = '';
  return error;
}
