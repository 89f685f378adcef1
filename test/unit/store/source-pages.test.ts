/** An export reads a thread in pages of rows: what comes before what does not depend on where a page ends. */
import assert from 'node:assert/strict';
import { storeAt } from '../../../src/open-store.ts';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { threadStream } from '../../../src/thread/events.ts';
import { withStatementCounter } from '../../bench/statement-counter.ts';
import { batch, committed } from '../../support/batches.ts';
import { fact, THREAD } from '../../support/given.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { withPostgres } from '../../support/postgres.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('store, pages of an export');

/** More values than a page has rows, and more bytes than it holds. */
const CHANNELS = Array.from({ length: 70 }, (_, index) => `channel ${index}`);
const RUNS = [1, 2, 3].map((number) => ({
  id: `01980000-0000-7000-8000-00000000010${number}`,
  checkpointId: `01980000-0000-7000-8000-00000000020${number}`,
  number,
}));
type LaidRun = (typeof RUNS)[number];

/** Texts that are whole, differences from those of the run before, and one that is larger than a page. */
const valueOf = ({ number }: LaidRun, channel: string): string =>
  JSON.stringify([channel.repeat(channel === 'channel 3' ? 150_000 : 1_500), 'of run', number]);

const writesOf = ({ id: runId, checkpointId, number }: LaidRun): PayloadWrite[] => [
  {
    ...{ kind: 'checkpoint', threadId: THREAD, runId },
    checkpoint: {
      ...{ ns: '', checkpointId, parentId: null, body: '{"kind":"function"}', metadata: { number } },
      channelVersions: Object.fromEntries(CHANNELS.map((name) => [name, String(number)])),
      valueChannels: CHANNELS,
      blobs: CHANNELS.map((channel) => ({
        ...{ channel, version: String(number), data: valueOf(RUNS[number - 1]!, channel) },
      })),
    },
  },
  {
    ...{ kind: 'checkpoint-writes', threadId: THREAD, runId, ns: '', checkpointId },
    writes: [0, 1].map((idx) => ({
      taskId: 'task',
      taskPath: 'path',
      idx,
      channel: 'a',
      data: `"${number}"`,
    })),
  },
  ...[0, 1].map((first): PayloadWrite => ({
    ...{ kind: 'frames', runId, threadId: THREAD, first },
    frames: [{ event: 'values', data: `"frame ${first}"` }],
  })),
  { kind: 'calls', runId, threadId: THREAD, data: `[${number}]` },
  { kind: 'untracked-values', runId, threadId: THREAD, data: `{"u":${number}}` },
];

async function lay(address: string): Promise<void> {
  const log = await storeAt(address).openLog({ clock: createManualClock(), onFault: assert.ifError });
  const stream = threadStream(THREAD);
  let expected = 0;
  for (const run of RUNS) {
    const events = [
      ...(run.number === 1 ? [fact.created()] : []),
      fact.runCreated(run.id),
      fact.started(run.id),
      fact.saved(run.id, run.checkpointId),
      fact.completed(run.id, { head: run.checkpointId }),
    ];
    committed(await log.commit(batch([{ stream, expected, events }], { payloads: writesOf(run) })));
    expected += events.length;
  }
  await log.close();
}

/** Each payload of the thread in a word. */
async function readAll(address: string): Promise<string[]> {
  const source = await storeAt(address).openSource(THREAD);
  const words: string[] = [];
  for await (const payload of source.payloads()) {
    const { number } = RUNS.find(({ id }) => id === payload.runId)!;
    if (payload.kind === 'value')
      assert.equal(await payload.text.whole(), valueOf(RUNS[number - 1]!, payload.channel));
    const text = payload.kind === 'recording' ? '' : payload.text.data;
    words.push(`${payload.kind} of ${number}${payload.kind === 'value' ? `: ${payload.channel}` : ''}`);
    if (payload.kind === 'write') assert.equal(text, `"${number}"`);
  }
  await source.close();
  return words;
}

const EXPECTED = [
  ...RUNS.flatMap(({ number }) => [
    ...CHANNELS.map((channel) => `value of ${number}: ${channel}`),
    ...[`checkpoint of ${number}`, `write of ${number}`, `write of ${number}`],
  ]),
  ...RUNS.flatMap(({ number }) => [`frame of ${number}`, `frame of ${number}`]),
  ...RUNS.map(({ number }) => `untracked of ${number}`),
  ...RUNS.map(({ number }) => `calls of ${number}`),
];

test('values come before their checkpoint and writes behind it, also where a page ends', () =>
  withTempDir(async (dir) => {
    await lay(dir);
    assert.deepEqual(await readAll(dir), EXPECTED);
  }));

test('PostgreSQL is asked a few questions for each page, not one for each row', () =>
  withPostgres(async (url) => {
    await lay(url);
    await withStatementCounter(url, async ({ url: counted, counts }) => {
      assert.deepEqual(await readAll(counted), EXPECTED);
      // Each value was read whole once more, by the test.
      const own = counts.statements - CHANNELS.length * RUNS.length;
      assert.ok(own < 60, `${own} statements for ${EXPECTED.length} payloads`);
    });
  }));

test.run();
