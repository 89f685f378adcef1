/** One server for all tests of a file that leave it as they found it. */
import type { suite } from './suite.ts';
import { withServer, type TestServer, type TestServerOptions } from './with-server.ts';

/** Started before the first test; stopped, and its log verified, after the last. */
export function sharedServer(test: ReturnType<typeof suite>, options: TestServerOptions): () => TestServer {
  let server: TestServer | undefined;
  let life: Promise<void> | undefined;
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  test.before(
    () =>
      new Promise<void>((resolve, reject) => {
        life = withServer(options, async (running) => {
          server = running;
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
    if (server === undefined) throw new Error('the shared server has not started');
    return server;
  };
}
