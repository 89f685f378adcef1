import * as assert from 'node:assert/strict';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { threadStream, type ThreadEvent } from '../../src/thread/events.ts';
import { batch, committed } from '../support/batches.ts';
import { fact } from '../support/given.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';

const test = suite('conformance: threads of many events');

const MANY = 100_000;
const FEW = 500;
const RUN_EVENTS = 20;
const COMMIT_RUNS = 100;
const SAMPLES = 40;
/** A page and a state cost the same in both threads but for the depth of two search trees. */
const MAX_RATIO = 4;

const idOf = (prefix: string, number: number): string =>
  `${prefix}-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** A thread whose runs save a step each, among facts that save none. */
async function longThread(s: TestServer, threadId: string, prefix: string, count: number): Promise<void> {
  const { log } = s.server;
  const stream = threadStream(threadId);
  committed(await log.commit(batch([{ stream, expected: 0, events: [fact.created({}, false, threadId)] }])));
  for (let version = 1; version < count;) {
    const events: ThreadEvent[] = [];
    const payloads: PayloadWrite[] = [];
    for (let run = 0; run < COMMIT_RUNS && version + events.length < count; run++) {
      const at = version + events.length;
      const runId = idOf(prefix, at);
      const checkpointId = idOf(prefix.replace(/^./, '1'), at);
      const facts = [
        fact.runCreated(runId, { graphId: 'echo' }),
        fact.started(runId),
        fact.saved(runId, checkpointId),
        ...Array.from({ length: RUN_EVENTS - 4 }, (_, index) => fact.updated({ index })),
        fact.completed(runId, { head: checkpointId }),
      ];
      events.push(...facts.map((each) => ({ ...each, data: { ...each.data, threadId } }) as ThreadEvent));
      payloads.push({
        ...{ kind: 'checkpoint', threadId, runId },
        checkpoint: {
          ...{ ns: '', checkpointId, parentId: null, body: '{"kind":"function"}', metadata: {} },
          valueChannels: ['count', 'fixed'],
          channelVersions: { count: checkpointId, fixed: '1' },
          blobs: [
            { channel: 'count', version: checkpointId, data: String(at) },
            ...(at === 1 ? [{ channel: 'fixed', version: '1', data: '"as ever"' }] : []),
          ],
        },
      });
    }
    committed(await log.commit(batch([{ stream, expected: version, events }], { payloads })));
    version += events.length;
  }
}

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
    const long = idOf('01980001', 1);
    const short = idOf('01980002', 1);
    await longThread(s, long, '01980001', MANY);
    await longThread(s, short, '01980002', FEW);
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
