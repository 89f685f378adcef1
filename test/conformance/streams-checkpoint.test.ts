import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say } from './scene.ts';
import { openStream, readFrames, streamRun, type Frame } from './stream-reader.ts';

const test = suite('conformance: streams behind a checkpoint');
const NESTED = { config: config('platform.nested.json') };
const MODES = ['values', 'updates', 'custom', 'messages-tuple', 'tasks', 'lifecycle'] as const;

interface Streamed {
  readonly threadId: string;
  readonly all: readonly Frame[];
  /** Of the root graph, oldest first, with the values there. */
  readonly checkpoints: readonly { readonly id: string; readonly values: unknown; readonly ns: string }[];
  read(query: string, lastId?: string): Promise<Frame[]>;
}

async function streamed(s: TestServer, body: object, threadId?: string): Promise<Streamed> {
  const thread = threadId ?? (await newThread(s));
  const all = await streamRun(s, thread, { stream_mode: MODES, stream_subgraphs: true, ...body });
  const [run] = await s.client.runs.list(thread);
  const history = await s.client.threads.getHistory(thread, { limit: 100 });
  return {
    ...{ threadId: thread, all },
    checkpoints: history.toReversed().map(({ checkpoint, values }) => ({
      ...{ id: checkpoint.checkpoint_id!, ns: checkpoint.checkpoint_ns, values },
    })),
    read: (query, lastId) =>
      readFrames(`${s.url}/threads/${thread}/runs/${run!.run_id}/stream${query}`, {
        ...(lastId !== undefined && { headers: { 'last-event-id': lastId } }),
      }),
  };
}

const statesOf = (frames: readonly Frame[]): unknown[] =>
  frames.filter(({ event }) => event === 'values').map(({ data }) => data);

/** The opening frame has the id of the last frame that is left out. */
function assertBehind(frames: readonly Frame[], all: readonly Frame[]): void {
  const [opening, ...rest] = frames;
  assert.equal(opening!.event, 'metadata');
  assert.deepEqual(opening!.data, all[0]!.data);
  assert.deepEqual(rest, all.slice(Number(opening!.id) + 1));
}

for (const [graph, body] of [
  ['workshop', { input: { task: 'go' } }],
  ['steps', { input: say('go'), config: { configurable: { gate: '/dev/null', count: 0 } } }],
] as const)
  test(`each checkpoint of ${graph} has exactly the frames behind it, also after a restart (S2)`, () =>
    withServer(NESTED, async (s) => {
      const run = await streamed(s, { assistant_id: graph, ...body });
      for (const restarted of [false, true]) {
        if (restarted) await s.restart();
        for (const { id, values } of run.checkpoints) {
          const path = (await run.read(`?checkpoint_id=${id}`)) as Frame[];
          assertBehind(path, run.all);
          // The first state behind a checkpoint is not that of the checkpoint.
          assert.notDeepEqual(statesOf(path)[0], values);
          assert.deepEqual(await run.read(`?checkpoint_id=${id.toUpperCase()}`, '-1'), path);
          // A client that comes back with the id of the opening frame misses nothing.
          assert.deepEqual(await run.read(`?checkpoint_id=${id}`, path[0]!.id), path.slice(1));
        }
      }
    }));

test('client.runs.joinStream: at the head of a run under way what its nodes have told since comes first', () =>
  withServer(NESTED, async (s) => {
    const { flags } = (await s.request('GET', '/info')).json;
    assert.equal(flags.join_checkpoint_id, true);
    const threadId = await newThread(s);
    const gate = join(s.dir, 'gate');
    const { run_id: runId } = await s.client.runs.create(threadId, 'workshop', {
      ...{ input: { task: 'wait' }, config: { configurable: { gate } } },
      ...{ streamMode: ['values', 'custom', 'lifecycle'], streamSubgraphs: true },
    });
    const live = await openStream(`${s.url}/threads/${threadId}/runs/${runId}/stream`);
    const seen: Frame[] = [];
    while (seen.at(-1)?.event.startsWith('custom|') !== true) seen.push((await live.next())!);
    await s.until(({ type, data }) => type === 'CheckpointSaved' && data.ns === '' && data.step === 1);
    const { checkpoint, values } = await s.client.threads.getState(threadId);
    assert.deepEqual(values, { task: 'wait', notes: ['planned'] });
    const joined: Frame[] = [];
    for await (const { id, event, data } of s.client.runs.joinStream(threadId, runId, {
      ...{ checkpointId: checkpoint.checkpoint_id!, lastEventId: '-1' },
    })) {
      joined.push({ id: String(id), event, data });
      if (event.startsWith('custom|team')) writeFileSync(gate, '');
    }
    seen.push(...(await live.rest()));
    assertBehind(joined, seen);
    // Nodes of the step that goes on have told of themselves before its checkpoint was saved.
    const words = joined.slice(0, 3).map(({ event }) => event.replaceAll(/:[^|]*/g, ''));
    assert.deepEqual(words, ['metadata', 'lifecycle|team', 'values|team']);
  }));

test('a checkpoint that is not one of the root graph of this run, or none at all, gives the whole run', () =>
  withServer(NESTED, async (s) => {
    const first = await streamed(s, { assistant_id: 'workshop', input: { task: 'go' } });
    const second = await streamed(s, { assistant_id: 'workshop', input: { task: 'on' } }, first.threadId);
    const within = await s.request('POST', `/threads/${first.threadId}/history`, {
      limit: 1,
      checkpoint: {
        checkpoint_ns: second.all.find(({ event }) => event.includes('|'))!.event.split('|')[1]!,
      },
    });
    const inner = within.json[0]?.checkpoint.checkpoint_id ?? MISSING;
    const others = [first.checkpoints.at(-1)!.id, MISSING, inner, 'no UUID', '', '%00', 'x'.repeat(2000)];
    for (const id of others)
      assert.deepEqual(await second.read(`?checkpoint_id=${encodeURIComponent(id)}`), second.all, id);
    const copied = await s.client.threads.copy(first.threadId);
    const { thread_id: copy } = copied as unknown as { thread_id: string };
    const again = await streamed(s, { assistant_id: 'workshop', input: { task: 'go' } }, copy);
    const before = `?checkpoint_id=${first.checkpoints.at(-1)!.id}`;
    assert.deepEqual(await again.read(before), again.all);
  }));

test('another Last-Event-ID than -1 wins over the checkpoint, and namespaces and modes narrow what is behind it', () =>
  withServer(NESTED, async (s) => {
    const run = await streamed(s, { assistant_id: 'workshop', input: { task: 'go' } });
    const id = run.checkpoints.find(({ values }) => (values as { notes: unknown[] }).notes.length === 1)!.id;
    assert.deepEqual(await run.read(`?checkpoint_id=${id}`, '2'), run.all.slice(3));
    assert.deepEqual(await run.read(`?checkpoint_id=${id}`, 'garbage'), run.all);
    const behind = await run.read(`?checkpoint_id=${id}`);
    const places = behind.map(({ event }) => event.split('|').slice(1).join('|'));
    const tools = places.find((place) => place.startsWith('tools:'))!;
    const own = behind.filter(({ event }) => /^(metadata|lifecycle)/.test(event) || event.endsWith(tools));
    assert.deepEqual(await run.read(`?checkpoint_id=${id}&namespace=${encodeURIComponent(tools)}`), own);
    const root = behind.filter(({ event }) => /^(metadata|values)/.test(event) && !event.includes('tools:'));
    assert.deepEqual(await run.read(`?checkpoint_id=${id}&namespace=&stream_mode=values`), root);
  }));

test('a run that was resumed in another attempt keeps the places of its checkpoints (S1, S2)', () =>
  withServer(NESTED, async (s) => {
    const threadId = await newThread(s);
    const gate = join(s.dir, 'gate');
    const { json } = await s.request('POST', `/threads/${threadId}/runs`, {
      ...{ assistant_id: 'workshop', input: { task: 'wait' }, config: { configurable: { gate } } },
      ...{ stream_mode: [...MODES], stream_subgraphs: true },
    });
    await s.until(({ type, data }) => type === 'CheckpointSaved' && data.ns === '' && data.step === 1);
    await s.restart();
    writeFileSync(gate, '');
    const path = (): string => `${s.url}/threads/${threadId}/runs/${json.run_id}/stream`;
    const all = await readFrames(path());
    const history = await s.client.threads.getHistory(threadId, { limit: 100 });
    assert.equal(history.length, 5);
    for (const { checkpoint, values } of history) {
      const frames = await readFrames(`${path()}?checkpoint_id=${checkpoint.checkpoint_id}`);
      assertBehind(frames, all);
      const behind = Number(frames[0]!.id);
      const shown = statesOf(all.slice(0, behind + 1)).at(-1);
      if (shown !== undefined && behind > 0) assert.deepEqual(shown, values);
    }
  }));

test.run();
