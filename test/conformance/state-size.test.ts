/** What a long conversation costs on disk and to read: real graphs on a real log, and what SQLite says of its file. */
import * as assert from 'node:assert/strict';
import { AIMessage } from '@langchain/core/messages';
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { GraphHost, RunOrder } from '../../src/graphs/port.ts';
import { openInProcessGraphs } from '../../src/graphs/in-process.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { createCheckpointBuffer } from '../../src/graphs/checkpoint-buffer.ts';
import { nextVersion } from '../../src/graphs/versions.ts';
import { logCheckpoints } from '../support/log-checkpoints.ts';
import { batch } from '../support/batches.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withLog, type TestLog } from '../support/with-log.ts';
import { asLoaded, ids, NO_STORE } from '../unit/graphs/harness.ts';

const test = suite('conformance: the size of a conversation');
const QUESTION = 'a question about something that matters to somebody '.repeat(3);
const ANSWER = 'an answer in a few words that were well thought about '.repeat(4);

const LONG_ANSWER = 'an answer that goes into every detail of what was asked '.repeat(20);

/** As long as 1.1 KB of messages a turn takes, and not the same words over and over: those would flatter any measure. */
const wordsOf = (turn: number, length: number): string => {
  const random = createRandom(turn + 1);
  return Array.from({ length }, () => Buffer.from(random.bytes(5)).toString('base64url')).join(' ');
};
const TURNS = Number(process.env['SIZE_TURNS'] ?? 240);
/** Of the runs of a thread, as it is where somebody talks with one assistant. */
const ASSISTANT = '5f4d3c2b-0000-5000-8000-000000000001';
/**
 * By name: who answers, with a text that is new every time, and how often the size of the state all tables of the
 * checkpoints may take together.
 */
const TALKERS: Record<string, [graph: unknown, most: number]> = {
  'a graph': [
    new StateGraph(MessagesAnnotation)
      .addNode('reply', ({ messages }) => ({ messages: [new AIMessage(wordsOf(messages.length, 75))] }))
      .addEdge(START, 'reply')
      .compile(),
    3,
  ],
  'a graph that returns its whole list': [
    new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec, notes: Annotation<string[]> }))
      .addNode('reply', ({ messages, notes = [] }) => ({
        messages: [new AIMessage('noted')],
        notes: [...notes, wordsOf(messages.length, 150)],
      }))
      .addEdge(START, 'reply')
      .compile(),
    3,
  ],
  'a plain function': [
    ({ messages }: { messages: unknown[] }) => ({
      messages: [{ role: 'assistant', content: wordsOf(messages.length, 95) }],
    }),
    2.3,
  ],
};

/** By name: how many turns, and who answers. */
const GRAPHS: Record<string, [turns: number, graph: unknown]> = {
  'a graph': [
    25,
    new StateGraph(MessagesAnnotation)
      .addNode('reply', () => ({ messages: [new AIMessage(ANSWER)] }))
      .addEdge(START, 'reply')
      .compile(),
  ],
  'a graph that answers at length': [
    25,
    new StateGraph(MessagesAnnotation)
      .addNode('reply', () => ({ messages: [new AIMessage(LONG_ANSWER)] }))
      .addEdge(START, 'reply')
      .compile(),
  ],
};

const TABLES = ['texts'];

/** Each turn is one commit: what takes time is not to wait for the disk. */
async function talk(host: GraphHost, { log }: TestLog, turns: number, threadId = 't'): Promise<void> {
  const stored = logCheckpoints(log, threadId);
  const signal = new AbortController().signal;
  for (let turn = 0; turn < turns; turn++) {
    const checkpoints = createCheckpointBuffer(stored, Date.now);
    const order: RunOrder = {
      runId: ids.uuid(),
      threadId,
      assistantId: ASSISTANT,
      graphId: 'agent',
      attempt: 1,
      resume: false,
      input: { messages: [{ role: 'user', content: `${turn} ${QUESTION}` }] },
      config: { configurable: {}, metadata: {} },
      streamModes: ['updates'],
      streamSubgraphs: false,
    };
    const end = await host.run(
      order,
      {
        checkpoints,
        store: NO_STORE,
        begun: async () => undefined,
        emit: async () => undefined,
        record: async () => undefined,
        keep: async () => undefined,
        note: async () => undefined,
      },
      signal,
    );
    assert.equal(end.kind, 'success');
    const payloads = checkpoints.saved.map((saved): PayloadWrite =>
      saved.kind === 'checkpoint'
        ? { kind: 'checkpoint', threadId, runId: order.runId, checkpoint: saved.checkpoint }
        : { ...saved, kind: 'checkpoint-writes', threadId, runId: order.runId },
    );
    await log.commit(batch([], { payloads }));
  }
}

/** What a plain function that talks this long saves, without the time that it takes to put each state into words. */
async function recite({ log }: TestLog, threadId: string, turns: number): Promise<void> {
  const messages: string[] = [];
  // What is saved together waits for the disk together.
  let saved: Promise<unknown>[] = [];
  let [parentId, step] = [null as string | null, -1];
  for (let turn = 0; turn < turns; turn++) {
    const runId = ids.uuid();
    const inputId = ids.uuid();
    const payloads = ['human', 'ai'].map((type, done): PayloadWrite => {
      const content = type === 'ai' ? wordsOf(turn, 95) : `${turn} ${QUESTION}`;
      messages.push(JSON.stringify({ type, content, id: ids.uuid() }));
      const checkpointId = done === 0 ? inputId : ids.uuid();
      const version = nextVersion(String(++step), ids);
      const turnOf = { input: inputId, done, answers: [], patches: [] };
      const origin = { run_id: runId, run_attempt: 1, graph_id: 'agent', assistant_id: ASSISTANT };
      const checkpoint = {
        ...{
          ns: '',
          checkpointId,
          parentId,
          body: JSON.stringify({ kind: 'function', runId, turn: turnOf }),
        },
        metadata: {
          ...origin,
          thread_id: threadId,
          source: done === 0 ? 'input' : 'loop',
          step,
          parents: {},
        },
        channelVersions: { messages: version },
        valueChannels: ['messages'],
        blobs: [{ channel: 'messages', version, data: `[${messages.join(',')}]` }],
      };
      parentId = checkpointId;
      return { kind: 'checkpoint', threadId, runId, checkpoint };
    });
    saved.push(log.commit(batch([], { payloads })));
    if (saved.length < 20) continue;
    await Promise.all(saved);
    saved = [];
  }
  await Promise.all(saved);
}

/** Bytes of whole pages, of the tables and of their indexes, free space in them included. */
const pagesOf = ({ behind }: TestLog, ...tables: string[]): number =>
  behind((db) =>
    db
      .prepare(
        `SELECT sum(pgsize) FROM dbstat WHERE name IN
           (SELECT name FROM sqlite_schema WHERE tbl_name IN (SELECT value FROM json_each(?)))`,
      )
      .pluck()
      .get(JSON.stringify(tables)),
  ) as number;

/** Bytes of the rows of values, without what SQLite adds. */
const valuesOf = ({ behind }: TestLog): number =>
  behind((db) =>
    db.prepare("SELECT sum(octet_length(data)) FROM texts WHERE kind = 'v'").pluck().get(),
  ) as number;

/** Bytes of the rows that the value is put together from. */
const readFor = ({ behind }: TestLog, { channel, version }: { channel: string; version: string }): number =>
  behind((db) =>
    db
      .prepare(
        `WITH RECURSIVE chain (id) AS (
           SELECT id FROM texts WHERE kind = 'v' AND name = ? AND version = ?
           UNION SELECT base.value FROM chain JOIN texts USING (id), json_each(texts.bases) AS base)
         SELECT sum(length(CAST(data AS BLOB))) FROM chain JOIN texts USING (id)`,
      )
      .pluck()
      .get(channel, version),
  ) as number;

for (const [name, [turns, graph]] of Object.entries(GRAPHS))
  test(
    `P3 ${turns} runs of ${name}: values take at most 3 times the last state`,
    () =>
      withLog(async (given) => {
        const host = openInProcessGraphs({ graphs: [asLoaded(graph)], ids, clock: systemClock() });
        await talk(host, given, turns);
        const head = await given.log.payloads.checkpoint('t', '');
        const values = (await given.log.payloads.values('t', head!.checkpointId))?.parse();
        assert.equal((values as { messages: unknown[] }).messages.length, 2 * turns);
        const size = Buffer.byteLength(JSON.stringify(values));
        await given.reopen();
        const sum = (sizes: number[]): number => sizes.reduce((all, size) => all + size, 0);
        const [stored, read] = [valuesOf(given), sum(head!.blobs.map((blob) => readFor(given, blob)))];
        console.log(`${name}: the state has ${size} bytes, ${stored} on disk, ${read} to read it`);
        assert.ok(stored <= 3 * size, `${stored} bytes on disk for ${size}`);
        assert.ok(read <= 2 * size, `${read} bytes to read for ${size}`);
      }),
    120_000,
  );

for (const [name, [graph, most]] of Object.entries(TALKERS))
  test(
    `P3 ${TURNS} runs of 1.1 KB with ${name}: checkpoints take at most ${most} times the last state`,
    () =>
      withLog(async (given) => {
        const threadId = ids.uuid();
        const host = openInProcessGraphs({ graphs: [asLoaded(graph)], ids, clock: systemClock() });
        await talk(host, given, TURNS, threadId);
        const head = await given.log.payloads.checkpoint(threadId, '');
        const values = (await given.log.payloads.values(threadId, head!.checkpointId))?.parse();
        assert.equal((values as { messages: unknown[] }).messages.length, 2 * TURNS);
        const size = Buffer.byteLength(JSON.stringify(values));
        await given.reopen();
        const stored = pagesOf(given, ...TABLES);
        const each = TABLES.map((table) => `${table} ${pagesOf(given, table)}`).join(', ');
        console.log(`${name}: the state has ${size} bytes, ${stored} on disk: ${each}`);
        assert.ok(stored <= most * size, `${stored} bytes on disk for ${size}`);
      }),
    120_000,
  );

test(
  'P3 1000 runs: tables take at most 3 times the last state, reads of the head at most twice',
  () =>
    withLog(async (given) => {
      const threadId = ids.uuid();
      await recite(given, threadId, 1000);
      const head = await given.log.payloads.checkpoint(threadId, '');
      const values = (await given.log.payloads.values(threadId, head!.checkpointId))?.parse();
      assert.equal((values as { messages: unknown[] }).messages.length, 2000);
      const size = Buffer.byteLength(JSON.stringify(values));
      await given.reopen();
      const [stored, read] = [pagesOf(given, ...TABLES), readFor(given, head!.blobs[0]!)];
      console.log(`1000 turns: the state has ${size} bytes, ${stored} on disk, ${read} to read it`);
      assert.ok(stored <= 3 * size, `${stored} bytes on disk for ${size}`);
      assert.ok(read <= 2 * size, `${read} bytes to read for ${size}`);
    }),
  120_000,
);

test.run();
