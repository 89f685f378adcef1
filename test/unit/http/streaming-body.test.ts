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

test.run();
