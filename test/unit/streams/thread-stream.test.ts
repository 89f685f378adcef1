import assert from 'node:assert/strict';
import { createHub } from '../../../src/streams/hub.ts';
import { createRunStreams } from '../../../src/streams/run-stream.ts';
import { createThreadStreams } from '../../../src/streams/thread-stream.ts';
import { ask, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { withThreads } from '../actors/with-threads.ts';

const test = suite('streams/thread-stream');

test('S2 a reader that resumes at a rolled-back last run is not shown earlier runs again', () =>
  withThreads(async (lent) => {
    const { log, clock } = lent;
    await lent.done([ask.createThread(), ask.createRun('a'), ask.start('a'), ask.complete('a')]);
    const begun = await lent.done([ask.createRun('b'), ask.start('b'), ask.cancel('b', 'rollback')]);
    const turn = begun.events.find(({ type }) => type === 'RunStarted')!.meta.version;
    await lent.done(ask.complete('b'));

    const hub = createHub(log);
    const streams = createThreadStreams(log, hub, createRunStreams(log, hub, clock), clock);
    const stopping = new AbortController();
    const reading = await streams.read(THREAD, {
      ...{ modes: ['lifecycle'], after: `${turn}-done`, signal: stopping.signal },
      visible: async () => true,
      state: async () => undefined,
    });
    const next = reading.next();
    const after = await lent.done([ask.createRun('c'), ask.start('c'), ask.complete('c')]);
    const started = after.events.find(({ type }) => type === 'RunStarted')!.meta.version;
    const { value = [] } = await next;
    assert.deepEqual(
      (value as { id: string }[]).map(({ id }) => id),
      [`${started}-done`],
    );
    stopping.abort();
    await reading.return(undefined);
    hub.close();
  }));

test('given a reader from now on that has not asked for a frame, when a run comes and ends, then it is shown', () =>
  withThreads(async (lent) => {
    const { log, clock } = lent;
    await lent.done([ask.createThread(), ask.createRun('a'), ask.start('a'), ask.complete('a')]);
    const hub = createHub(log);
    const streams = createThreadStreams(log, hub, createRunStreams(log, hub, clock), clock);
    const stopping = new AbortController();
    const reading = await streams.read(THREAD, {
      ...{ modes: ['lifecycle'], after: undefined, signal: stopping.signal },
      visible: async () => true,
      state: async () => undefined,
    });
    await lent.done([ask.createRun('b'), ask.start('b'), ask.complete('b')]);
    const { value = [] } = await reading.next();
    const [{ data }] = value as [{ data: string }];
    assert.deepEqual(JSON.parse(data), { status: 'run_done', run_id: 'b' });
    stopping.abort();
    await reading.return(undefined);
    hub.close();
  }));

test.run();
