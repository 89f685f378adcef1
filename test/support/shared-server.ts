/** What all tests of a file share when each leaves it as it found it. */
import type { suite } from './suite.ts';
import { withServer, type TestServer, type TestServerOptions } from './with-server.ts';

/** `lend` starts before the first test and ends after the last. */
export function shared<T>(
  test: ReturnType<typeof suite>,
  lend: (use: (lent: T) => Promise<void>) => Promise<void>,
): () => T {
  let lent: T | undefined;
  let life: Promise<void> | undefined;
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  test.before(
    () =>
      new Promise<void>((resolve, reject) => {
        life = lend(async (given) => {
          lent = given;
          resolve();
          await over;
        });
        life.catch(reject);
      }),
  );
  test.after(async () => {
    end();
    await life;
  });
  return () => {
    if (lent === undefined) throw new Error('what the tests share has not started');
    return lent;
  };
}

/** A server, whose log is verified after the last test. */
export const sharedServer = (
  test: ReturnType<typeof suite>,
  options: TestServerOptions,
): (() => TestServer) => shared(test, (use) => withServer(options, use));
