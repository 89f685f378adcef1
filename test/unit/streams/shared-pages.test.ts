import assert from 'node:assert/strict';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { StoredFrame } from '../../../src/store/port/payloads.ts';
import { createHub } from '../../../src/streams/hub.ts';
import { shareLargePages } from '../../../src/streams/shared-pages.ts';
import { ask, THREAD } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { suite } from '../../support/suite.ts';
import { withThreads } from '../actors/with-threads.ts';

const test = suite('streams/shared-pages');

const LARGE = 'ü'.repeat(100_000);

interface Sharing {
  /** What readers are given. */
  readonly frames: EventLog['payloads']['frames'];
  /** How often the log was asked. */
  readonly asked: () => number;
  put(first: number, ...texts: string[]): Promise<void>;
  /** Answers of the log wait until the returned function is called. */
  hold(): () => void;
  /** Whether reads fail from now on. */
  fail(how: boolean): void;
  /** Deletes the thread. */
  purge(): Promise<unknown>;
}

const withSharing = (use: (given: Sharing) => Promise<void>): Promise<void> =>
  withThreads(async ({ log, done }) => {
    await done([ask.createThread(), ask.createRun('a'), ask.start('a')]);
    let asked = 0;
    let held: Promise<void> | undefined;
    let failing = false;
    const frames: EventLog['payloads']['frames'] = async (...args) => {
      asked += 1;
      if (failing) throw new Error('the disk failed');
      const page = await log.payloads.frames(...args);
      await held;
      return page;
    };
    const shared = shareLargePages({ ...log, payloads: { ...log.payloads, frames } });
    const hub = createHub(log, shared.forget);
    await use({
      frames: shared.log.payloads.frames,
      asked: () => asked,
      async put(first, ...texts) {
        const shown = texts.map((data) => ({ event: 'custom', data }));
        const payload = { kind: 'frames', runId: 'a', threadId: THREAD, first, frames: shown } as const;
        await log.commit(batch([], { payloads: [payload] }));
      },
      hold() {
        let release: () => void = () => undefined;
        held = new Promise((resolve) => {
          release = () => {
            held = undefined;
            resolve();
          };
        });
        return release;
      },
      fail: (how) => void (failing = how),
      purge: () => done([ask.deleteThread()]),
    });
    hub.close();
  });

const texts = (page: readonly StoredFrame[]): string[] => page.map(({ data }) => data);

test('S3 readers at one position share one page of a large next frame, whenever they come', () =>
  withSharing(async ({ frames, asked, put }) => {
    await put(0, 'small', LARGE);
    const together = await Promise.all(Array.from({ length: 100 }, () => frames('a', 0, 500)));
    const later = await frames('a', 0, 500);
    assert.deepEqual(texts(later), [LARGE]);
    assert.ok(together.every((page) => page === later));
    assert.equal(asked(), 1);
    assert.deepEqual(texts(await frames('a', -1, 500)), ['small', LARGE]);
  }));

test('S2 a second reader gets a frame committed during an empty read of the first', () =>
  withSharing(async ({ frames, put, hold }) => {
    const release = hold();
    const early = frames('a', -1, 500);
    await put(0, 'new');
    const late = frames('a', -1, 500);
    release();
    assert.deepEqual(texts(await early), []);
    assert.deepEqual(texts(await late), ['new']);
  }));

test('S2 given a read that fails, when it is asked for again, then the log is asked again', () =>
  withSharing(async ({ frames, put, fail }) => {
    await put(0, LARGE);
    fail(true);
    await assert.rejects(frames('a', -1, 500), /the disk failed/);
    fail(false);
    assert.deepEqual(texts(await frames('a', -1, 500)), [LARGE]);
  }));

test('S3 given a large page that nobody has any more, then it is not kept', () =>
  withSharing(async ({ frames, put }) => {
    await put(0, LARGE);
    const seen = new WeakRef(await frames('a', -1, 500));
    await collectGarbage();
    assert.equal(seen.deref(), undefined);
    assert.deepEqual(texts(await frames('a', -1, 500)), [LARGE]);
  }));

test('pages of a deleted thread are not given to readers of the runs that have its ids later (L3)', () =>
  withSharing(async ({ frames, put, purge }) => {
    await put(0, LARGE);
    const before = await frames('a', -1, 10);
    await purge();
    await put(0, 'other');
    assert.deepEqual(
      [before, await frames('a', -1, 10)].map((page) => page.map(({ data }) => data)),
      [[LARGE], ['other']],
    );
  }));

test.run();
