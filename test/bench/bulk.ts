/**
 * A data directory with very many threads and runs, made in minutes. The rows are those that a server would have
 * written: the same facts go through the same functions (events appended, snapshots folded, rows projected, checkpoints
 * stored), only many to a transaction and without waiting for the disk.
 */
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Batch } from '../../src/store/port/log.ts';
import { openConnection } from '../../src/store/sqlite/connection.ts';
import { insertEvents, recordEvents } from '../../src/store/sql/event-store.ts';
import { createRowWriter } from '../../src/store/sql/row-writer.ts';
import { newIds, type Work } from '../../src/store/sql/work.ts';
import { LOG_FILE, openSqliteLog } from '../../src/store/sqlite/log.ts';
import { createPayloadWriter } from '../../src/store/sql/payloads/payload-writer.ts';
import { createStatements } from '../../src/store/sqlite/statements.ts';
import { projection } from '../../src/store/sql/rows/projection.ts';
import { threadStream, type Outcome, type ThreadEvent } from '../../src/thread/events.ts';
import { evolve, initial } from '../../src/thread/state.ts';

export interface Bulk {
  readonly threads: number;
  readonly runs: number;
}

/** A log of 795,840 events. */
export const REBUILT: Bulk = { threads: 80_000, runs: 212_000 };

/** Time between two facts of the whole log, so that the directory spans some weeks. */
const STEP_MS = 300;
const THREADS_PER_TRANSACTION = 5_000;
const FAR = 4_000_000_000_000;

export const threadIdOf = (i: number): string =>
  `01970000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`;

/** 50 threads for an owner, 20 tenants, two plans, one session each; every tenth thread has tags. */
export const metadataOf = (i: number): JsonObject => ({
  owner: `user-${Math.floor(i / 50)}`,
  tenant: `tenant-${i % 20}`,
  plan: i % 2 === 0 ? 'free' : 'pro',
  session: `session-${i}`,
  graph_id: 'agent',
  nested: { region: i % 3 === 0 ? 'eu' : 'us' },
  ...(i % 10 === 0 && { tags: ['new', `tag-${i % 1000}`] }),
});

function outcomeOf(i: number): Outcome {
  if (i % 20 === 7) return { kind: 'error', error: 'Error', message: 'the model is away' };
  if (i % 20 === 11)
    return { kind: 'success', next: ['ask'], interrupts: { t: [{ value: 'go on?', id: 'q' }] } };
  return { kind: 'success', next: [], interrupts: {} };
}

function factsOf(i: number, runs: number): ThreadEvent[] {
  const threadId = threadIdOf(i);
  const metadata = metadataOf(i);
  const head = `${threadId}-c`;
  const facts: ThreadEvent[] = [{ type: 'ThreadCreated', data: { threadId, metadata, temporary: false } }];
  for (let n = 0; n < runs; n++) {
    const runId = `02970000-0000-7000-8${n.toString(16).padStart(3, '0')}-${i.toString(16).padStart(12, '0')}`;
    // A few wait for a far day, so that there are busy threads which no server starts to work on.
    const waits = n === runs - 1 && i % 1000 === 3;
    const kwargs = {
      input: { messages: [{ role: 'user', content: 'hello' }] },
      config: { configurable: { thread_id: threadId, run_id: runId, graph_id: 'agent' } },
      streamMode: ['values'],
      streamSubgraphs: false,
    };
    facts.push({
      type: 'RunCreated',
      data: {
        ...{ threadId, runId, assistantId: 'a', graphId: 'agent', strategy: 'enqueue', kwargs },
        metadata: { owner: metadata['owner']! },
        threadMetadata: metadata,
        notBefore: waits ? FAR : 0,
      },
    });
    if (waits) break;
    const attempt = { threadId, runId, attempt: 1 };
    facts.push({ type: 'RunStarted', data: { ...attempt, leaseId: 'lease' } });
    if (n === 0)
      facts.push({
        type: 'CheckpointSaved',
        data: { ...attempt, checkpointId: head, parentId: null, ns: '', step: 0, source: 'loop' },
      });
    const outcome = n === runs - 1 ? outcomeOf(i) : outcomeOf(0);
    facts.push({ type: 'RunCompleted', data: { ...attempt, outcome, remaining: 0, head } });
  }
  return facts;
}

const values = JSON.stringify([
  { type: 'human', content: 'hello', id: '1' },
  { type: 'ai', content: 'hi', id: '2' },
]);

/** Fills an empty directory; says how far it is once in a while. */
export async function buildBulk(
  dir: string,
  { threads, runs }: Bulk,
  say: (line: string) => void,
): Promise<void> {
  const clock = systemClock();
  await openSqliteLog({
    ...{ dir, projection, clock },
    onFault(error) {
      throw error;
    },
  }).close();
  const db = openConnection(join(dir, LOG_FILE));
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -2000000');
  const prepare = createStatements(db);
  const { run, context } = prepare.driver;
  const payloads = createPayloadWriter(context);
  const rowWrite = createRowWriter(context.coder, projection.schema);
  function* append(batch: Batch, at: number): Work<void> {
    const recorded = recordEvents(batch, at, yield newIds('events'));
    yield* insertEvents(context, recorded);
    for (const write of recorded.flatMap(projection.project)) yield rowWrite(write);
  }
  const began = clock.monotonic();
  let at = clock.now() - (threads + 3 * runs) * STEP_MS;
  for (let first = 0; first < threads; first += THREADS_PER_TRANSACTION) {
    db.transaction(() => {
      for (let i = first; i < Math.min(threads, first + THREADS_PER_TRANSACTION); i++) {
        const events = factsOf(i, Math.floor(runs / threads) + (i < runs % threads ? 1 : 0));
        const stream = threadStream(threadIdOf(i));
        for (const [expected, event] of events.entries()) {
          at += STEP_MS;
          const commandId = `${stream}-${expected}`;
          run(append({ commandId, appends: [{ stream, expected, events: [event] }] }, at));
        }
        prepare('INSERT INTO snapshots VALUES (?, ?, ?)').run(
          stream,
          events.length,
          JSON.stringify(events.reduce(evolve, initial)),
        );
        saveCheckpoint(i);
      }
    })();
    if ((first / THREADS_PER_TRANSACTION) % 20 === 0)
      say(`${first} threads after ${Math.round((clock.monotonic() - began) / 1000)} s`);
  }
  db.close();

  function saveCheckpoint(i: number): void {
    const threadId = threadIdOf(i);
    const checkpoint = {
      ...{ ns: '', checkpointId: `${threadId}-c`, parentId: null, body: '{"v":4}' },
      metadata: { source: 'loop', step: 0 },
      channelVersions: { messages: '1' },
      valueChannels: ['messages'],
      blobs: [{ channel: 'messages', version: '1', data: values }],
    };
    run(payloads.write([{ kind: 'checkpoint', threadId, runId: 'r', checkpoint }], at));
  }
}
