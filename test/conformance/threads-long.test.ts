import * as assert from 'node:assert/strict';
import { layLongThread } from '../support/long-thread.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';

const test = suite('conformance: threads of many events');

const MANY = 100_000;
const FEW = 500;
const SAMPLES = 40;
/** A page and a state cost the same in both threads but for the depth of two search trees. */
const MAX_RATIO = 4;

/** Median and 95th percentile of the processor time of a request, client and server together, in milliseconds. */
async function timesOf(s: TestServer, pathAt: (version: number) => string, last: number) {
  const random = createRandom(7);
  const times: number[] = [];
  for (let index = 0; index < SAMPLES + 5; index++) {
    const path = pathAt(random.int(2, last));
    const began = process.cpuUsage();
    const { status, text } = await s.request('GET', path as '/');
    const { user, system } = process.cpuUsage(began);
    if (index >= 5) times.push((user + system) / 1000);
    assert.equal(status, 200, text);
  }
  times.sort((a, b) => a - b);
  return { median: times[SAMPLES / 2]!, p95: times[Math.floor(0.95 * SAMPLES)]! };
}

test('pages of events and states of a thread of 100,000 events cost what those of a short one cost', () =>
  withServer({}, async (s) => {
    const long = await layLongThread(s, '01980001', MANY);
    const short = await layLongThread(s, '01980002', FEW);
    const questions: Record<string, (thread: string) => (version: number) => string> = {
      'a page of events': (thread) => (version) => `/threads/${thread}/events?before=${version}&limit=100`,
      'a state': (thread) => (version) => `/threads/${thread}/state?version=${version}`,
      'a step': (thread) => (version) => `/threads/${thread}/state?version=${version}&from=${version - 1}`,
      'all writers': (thread) => (version) => `/threads/${thread}/state?version=${version}&from=0`,
    };
    for (const [what, pathOf] of Object.entries(questions)) {
      const few = await timesOf(s, pathOf(short), FEW);
      const many = await timesOf(s, pathOf(long), MANY);
      const text = [few, many].map(({ median, p95 }) => `${median.toFixed(1)} ms (p95 ${p95.toFixed(1)})`);
      console.log(`${what}: ${text[0]} of ${FEW} events, ${text[1]} of ${MANY}`);
      assert.ok(many.median < MAX_RATIO * few.median, what);
    }
    const { json } = await s.request('GET', `/threads/${long}/state?version=${MANY}&from=0` as '/');
    const writers = Object.fromEntries(json.changes.map(({ path, version }: any) => [path, version]));
    assert.equal(writers['/fixed'], 4);
    assert.equal(json.values.count, json.saved_at - 3);
    assert.equal(writers['/count'], json.saved_at);
  }));

test.run();
