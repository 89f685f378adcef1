/** What a long conversation costs on disk and to read: real graphs on a real log, and what SQLite says of its file. */
import * as assert from 'node:assert/strict';
import { AIMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { GraphHost, RunOrder } from '../../src/graphs/port.ts';
import { openInProcessGraphs } from '../../src/graphs/in-process.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { PayloadWrite } from '../../src/log/payloads.ts';
import { createCheckpointBuffer } from '../../src/graphs/checkpoint-buffer.ts';
import { logCheckpoints } from '../support/log-checkpoints.ts';
import { batch } from '../support/log-contract.ts';
import { suite } from '../support/suite.ts';
import { withLog, type TestLog } from '../support/with-log.ts';
import { asLoaded, ids, NO_STORE } from '../unit/graphs/harness.ts';

const test = suite('conformance: the size of a conversation');
const QUESTION = 'a question about something that matters to somebody '.repeat(3);
const ANSWER = 'an answer in a few words that were well thought about '.repeat(4);

const LONG_ANSWER = 'an answer that goes into every detail of what was asked '.repeat(20);

/** By name: how many turns, and who answers. */
const GRAPHS: Record<string, [turns: number, graph: unknown]> = {
  'a graph': [
    250,
    new StateGraph(MessagesAnnotation)
      .addNode('reply', () => ({ messages: [new AIMessage(ANSWER)] }))
      .addEdge(START, 'reply')
      .compile(),
  ],
  'a graph that answers at length': [
    100,
    new StateGraph(MessagesAnnotation)
      .addNode('reply', () => ({ messages: [new AIMessage(LONG_ANSWER)] }))
      .addEdge(START, 'reply')
      .compile(),
  ],
  'a plain function': [
    1000,
    (_state: unknown, _config: unknown) => ({
      messages: [{ role: 'assistant', content: ANSWER }],
    }),
  ],
};

/** Each turn is one commit: what takes time is not to wait for the disk. */
async function talk(host: GraphHost, { log }: TestLog, turns: number): Promise<void> {
  const stored = logCheckpoints(log, 't');
  const signal = new AbortController().signal;
  for (let turn = 0; turn < turns; turn++) {
    const checkpoints = createCheckpointBuffer(stored, Date.now);
    const order: RunOrder = {
      runId: ids.uuid(),
      threadId: 't',
      assistantId: ids.uuid(),
      graphId: 'agent',
      attempt: 1,
      resume: false,
      input: { messages: [{ role: 'user', content: `${turn} ${QUESTION}` }] },
      config: { configurable: {}, metadata: {} },
      streamModes: ['updates'],
      streamSubgraphs: false,
    };
    const end = await host.run(order, { checkpoints, store: NO_STORE, emit: async () => undefined }, signal);
    assert.equal(end.kind, 'success');
    const payloads = checkpoints.saved.map((saved): PayloadWrite =>
      saved.kind === 'checkpoint'
        ? { kind: 'checkpoint', threadId: 't', runId: order.runId, checkpoint: saved.checkpoint }
        : { ...saved, kind: 'checkpoint-writes', threadId: 't', runId: order.runId },
    );
    await log.commit(batch([], { payloads }));
  }
}

/** Bytes of whole pages, of the table and of its key, free space in them included. */
const pagesOf = ({ behind }: TestLog, table: string): number =>
  behind((db) =>
    db
      .prepare('SELECT sum(pgsize) FROM dbstat WHERE name IN (?, ?)')
      .pluck()
      .get(table, `sqlite_autoindex_${table}_1`),
  ) as number;

/** Bytes of the rows that the head's values are put together from. */
const readFor = ({ behind }: TestLog, head: string): number =>
  behind((db) =>
    db
      .prepare(
        `WITH RECURSIVE chain (channel, base, data) AS (
           SELECT blob.channel, blob.base, blob.data
           FROM checkpoints, json_each(channel_versions) AS head JOIN channel_blobs AS blob
           ON blob.channel = head.key AND blob.version = head.value
           WHERE checkpoint_id = ?
           UNION ALL
           SELECT below.channel, below.base, below.data FROM chain JOIN channel_blobs AS below
           ON below.channel = chain.channel AND below.version = chain.base)
         SELECT sum(length(CAST(data AS BLOB))) FROM chain`,
      )
      .pluck()
      .get(head),
  ) as number;

for (const [name, [turns, graph]] of Object.entries(GRAPHS))
  test(
    `P3 given ${turns} turns of ${name} on one thread, when its values are measured on disk, then they occupy at most three times the last state and the head is read for at most twice`,
    () =>
      withLog(async (given) => {
        const host = openInProcessGraphs({ graphs: [asLoaded(graph)], ids, clock: systemClock() });
        await talk(host, given, turns);
        const head = await given.log.payloads.checkpoint('t', '');
        const values = await given.log.payloads.values('t', head!.checkpointId);
        assert.equal((values as { messages: unknown[] }).messages.length, 2 * turns);
        const size = Buffer.byteLength(JSON.stringify(values));
        await given.reopen();
        const [stored, read] = [pagesOf(given, 'channel_blobs'), readFor(given, head!.checkpointId)];
        console.log(`${name}: the state has ${size} bytes, ${stored} on disk, ${read} to read it`);
        assert.ok(stored <= 3 * size, `${stored} bytes on disk for ${size}`);
        assert.ok(read <= 2 * size, `${read} bytes to read for ${size}`);
      }),
    120_000,
  );

test.run();
