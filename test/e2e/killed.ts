/**
 * Tests of what is there after kill -9. All of a file share the lives of one log, because to start servers is most of
 * what they cost: what each begins in the first server it looks at in the second.
 */
import * as assert from 'uvu/assert';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { suite } from '../support/suite.ts';
import { withWebhookSink, type WebhookSink } from '../support/webhook-sink.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { withPrograms, type Programs, type ServerProgram } from './programs.ts';

export const E2E_PROJECT = fileURLToPath(new URL('./project/platform.json', import.meta.url));

const LAUNCH = {
  args: ['--config', E2E_PROJECT],
  env: { PLATFORM_WORKERS: '1' },
};

/** What the test sees once the server has been killed and another one has come up on the same log. */
interface Sequel {
  /** While nobody has the log, whose directory is given. */
  between?(data: string): Promise<void>;
  after(server: ServerProgram): Promise<void>;
}

/** In the first server, with a directory of its own; the server is killed when all have resolved. */
export type Begin = (server: ServerProgram, dir: string, sink: WebhookSink) => Promise<Sequel>;

/** Adds tests to the suite; the log is verified when they are over. */
export function killedWith(test: ReturnType<typeof suite>): (title: string, begin: Begin) => void {
  const begins = new Map<string, Begin>();
  const sequels = new Map<string, Promise<Sequel>>();
  let server: ServerProgram | undefined;
  let leave: () => void = () => undefined;
  let lives: Promise<void> = Promise.resolve();

  async function live({ serve, dir }: Programs, sink: WebhookSink): Promise<void> {
    const first = await serve(LAUNCH);
    for (const [title, begin] of begins) {
      const own = join(dir, String(sequels.size));
      const sequel = mkdir(own).then(() => begin(first, own, sink));
      sequels.set(title, sequel);
    }
    const settled = await Promise.allSettled(sequels.values());
    await first.end('SIGKILL');
    // One that failed to begin is told by its test.
    for (const each of settled)
      if (each.status === 'fulfilled') await each.value.between?.(join(dir, 'data'));
    server = await serve(LAUNCH);
  }

  test.before(
    () =>
      new Promise<void>((resolve, reject) => {
        const left = new Promise<void>((leaving) => (leave = leaving));
        lives = withPrograms((programs) =>
          withWebhookSink(async (sink) => {
            await live(programs, sink);
            resolve();
            await left;
            assert.is(await server!.end('SIGTERM'), 0, server!.output());
            await assertVerified(join(programs.dir, 'data'));
          }),
        );
        lives.catch(reject);
      }),
  );
  test.after(async () => {
    leave();
    await lives;
  });

  return (title, begin) => {
    begins.set(title, begin);
    test(title, async () => (await sequels.get(title)!).after(server!));
  };
}
