import assert from 'node:assert/strict';
import { streamingResponse } from '../../../src/http/streaming-body.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/streaming-body');

test('S3 shared bytes stay unchanged when one reader changes or transfers its chunk', async () => {
  const shared = Buffer.from('x'.repeat(100_000));
  const open = () =>
    streamingResponse(
      {
        ...{ headers: {}, clock: createManualClock(), outgoing: undefined, expiresAt: undefined },
        ...{ over: new AbortController(), stopping: new AbortController().signal },
      },
      { headers: {}, idle: ' ', everyMs: 1_000, produce: async () => ({ text: shared, last: true }) },
    );
  for await (const chunk of open().body! as unknown as AsyncIterable<Uint8Array>) {
    chunk.fill(0);
    structuredClone(chunk.buffer, { transfer: [chunk.buffer] });
  }
  assert.equal(shared.toString(), 'x'.repeat(100_000));
  assert.equal(await open().text(), ` ${shared.toString()}`);
});

for (const stays of [true, false])
  test(`a stop ${stays ? 'lets a reply end whose run has ended' : 'breaks off a reply whose run goes on'}`, async () => {
    // given
    const [over, stopping] = [new AbortController(), new AbortController()];
    let [begin, end] = [(): void => undefined, (): void => undefined];
    const [asked, result] = [
      new Promise<void>((resolve) => (begin = resolve)),
      new Promise<void>((resolve) => (end = resolve)),
    ];
    const reply = streamingResponse(
      {
        ...{ headers: {}, clock: createManualClock(), outgoing: undefined, expiresAt: undefined },
        ...{ over, stopping: stopping.signal },
      },
      {
        ...{ headers: {}, idle: ' ', everyMs: 1_000 },
        async produce(stay) {
          if (stays) stay();
          begin();
          await result;
          return { text: 'values', last: true };
        },
      },
    );
    const reader = reply.body!.getReader();
    await reader.read();
    const next = reader.read();
    await asked;
    // when
    stopping.abort();
    const isBroken = over.signal.aborted;
    end();
    // then
    assert.equal(isBroken, !stays);
    if (stays) assert.equal(Buffer.from((await next).value!).toString(), 'values');
  });

test.run();
