/**
 * Whatever a client is told must be in the file already. A second connection looks there whenever something arrives.
 * So that a reply sent too early has no chance to be overtaken by its commit, a third connection keeps taking the
 * write lock: the server's commits wait for it, and its replies have to wait for its commits.
 */
import * as assert from 'uvu/assert';
import { Database } from '../../src/store/sqlite/library.ts';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { collect } from '../e2e/frames.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';

const test = suite('output gate');

const HELD_MS = 4;
const FREE_MS = 4;

/** Takes the write lock again and again until told to stop. */
function hinder(file: string): () => void {
  const db = new Database(file, { timeout: 5_000 });
  const hold = (): NodeJS.Timeout => {
    db.exec('BEGIN IMMEDIATE');
    return setTimeout(free, HELD_MS);
  };
  const free = (): void => {
    db.exec('ROLLBACK');
    timer = setTimeout(() => (timer = hold()), FREE_MS);
  };
  let timer = hold();
  return () => {
    clearTimeout(timer);
    db.close();
  };
}

/** Counts what was looked up, and notes what was not there. */
function openWitness(file: string) {
  const db = new Database(file, { readonly: true });
  const early: string[] = [];
  let samples = 0;
  return {
    early,
    samples: () => samples,
    see(what: string, sql: string, ...parameters: unknown[]): void {
      samples += 1;
      if (db.prepare(sql).get(...parameters) === undefined) early.push(what);
    },
    close: () => db.close(),
  };
}

type Witness = ReturnType<typeof openWitness>;

async function useThreads(server: ServerProgram, webhook: string, { see }: Witness): Promise<void> {
  for (let i = 0; i < 12; i++) {
    const thread = (await server.ask('POST', '/threads', { metadata: { i } })).json.thread_id;
    see('thread', 'SELECT 1 FROM threads WHERE thread_id = ?', thread);
    await server.ask('PATCH', `/threads/${thread}`, { metadata: { patched: i } });
    see('metadata', "SELECT 1 FROM threads WHERE thread_id = ? AND metadata ->> '$.patched' = ?", thread, i);
    const order = { assistant_id: 'gate', config: { configurable: { gate: '/nowhere' } } };
    const runs = `/threads/${thread}/runs`;
    const run = (await server.ask('POST', runs, { ...order, webhook })).json.run_id;
    see('run', 'SELECT 1 FROM runs WHERE run_id = ?', run);
    await server.ask('POST', `${runs}/${run}/cancel`);
    see(
      'cancellation',
      "SELECT 1 FROM events WHERE type IN ('RunCancelRequested', 'RunCompleted') AND data ->> '$.runId' = ?",
      run,
    );
    await server.ask('GET', `${runs}/${run}/join`);
    see('end', 'SELECT 1 FROM runs WHERE run_id = ? AND ended_at IS NOT NULL', run);
    const wait = await server.ask('POST', `${runs}/wait`, {
      assistant_id: 'echo',
      input: { messages: 'hi' },
    });
    const waited = wait.headers.get('content-location')!.split('/').at(-1);
    see('waited end', "SELECT 1 FROM runs WHERE run_id = ? AND status = 'success'", waited);
    await server.ask('DELETE', `/threads/${thread}`);
    see('deletion', "SELECT 1 FROM events WHERE type = 'ThreadDeleted' AND stream = ?", `thread-${thread}`);
  }
}

async function useStream(server: ServerProgram, { see }: Witness): Promise<void> {
  const response = await server.open('POST', '/runs/stream', {
    assistant_id: 'steps',
    stream_mode: ['values', 'custom'],
    config: { configurable: { count: 30 } },
  });
  const run = response.headers.get('content-location')!.split('/').at(-1);
  see('stream', 'SELECT 1 FROM runs WHERE run_id = ?', run);
  // Not by its text: a frame that resembles one before may lie there as the difference.
  await collect(response, ({ id, event }) =>
    see(
      'frame',
      "SELECT 1 FROM frames WHERE run = unhex(replace(?, '-', '')) AND ? BETWEEN first AND last AND instr(parts, ?)",
      run,
      id,
      event,
    ),
  );
  see('end of stream', 'SELECT 1 FROM runs WHERE run_id = ? AND ended_at IS NOT NULL', run);
}

test('no reply, frame or webhook is out before its commit is in the file (L1)', () =>
  withPrograms(async ({ serve, dir }) => {
    const server = await serve();
    const file = join(dir, 'data', 'log.db');
    const witness = openWitness(file);
    const { early, samples } = witness;
    try {
      await withWebhookSink(async (sink) => {
        sink.otherwise(({ headers }, response) => {
          // An orphan came after its thread's deletion, which took the run's row with it.
          const owed =
            'SELECT 1 FROM deliveries LEFT JOIN runs USING (run_id) WHERE delivery_id = ? AND (ended_at > 0 OR orphan = 1)';
          witness.see('webhook', owed, headers['webhook-id']);
          response.end();
        });
        const stop = hinder(file);
        try {
          await Promise.all([
            useThreads(server, sink.url(), witness),
            useThreads(server, sink.url(), witness),
            useStream(server, witness),
            useStream(server, witness),
          ]);
        } finally {
          stop();
        }
        assert.is(await server.end('SIGTERM'), 0);
      });
    } finally {
      witness.close();
    }
    assert.equal(early, []);
    assert.ok(samples() >= 300, `${samples()} samples`);
    await assertVerified(join(dir, 'data'));
  }));

test.run();
