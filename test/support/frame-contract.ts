/** Frames that repeat the state: what is read is what was written, and what is stored is what changed. */
import assert from 'node:assert/strict';
import type { FrameText, PayloadWrite } from '../../src/store/port/payloads.ts';
import { withState } from '../../src/protocol/stream-modes.ts';
import { batch } from './batches.ts';
import { createRandom, seedFromEnv, type Random } from './random.ts';
import { countRows, type LendPayloadLog, type PayloadLog } from './payload-log.ts';
import type { suite } from './suite.ts';

const LIVES = 12;
const RUNS = 14;

const bytesOf = async ({ ask }: PayloadLog, what: 'sum' | 'max'): Promise<number> => {
  const [row] = await ask(`SELECT ${what}(octet_length(data)) AS bytes FROM frames`);
  return row!['bytes'] as number;
};

async function put({ log }: PayloadLog, runId: string, first: number, frames: FrameText[], threadId = 't') {
  const payloads = [{ kind: 'frames', runId, threadId, first, frames: frames.map(withState) } as const];
  assert.equal((await log.commit(batch([], { payloads }))).kind, 'committed');
}

async function readAll({ log }: PayloadLog, runId: string): Promise<FrameText[]> {
  const frames: FrameText[] = [];
  for (let after = -1; ;) {
    const page = await log.payloads.frames(runId, after, 7);
    if (page.length === 0) return frames;
    assert.deepEqual(
      page.map(({ id }) => id),
      page.map((_, index) => after + 1 + index),
    );
    after += page.length;
    frames.push(...page.map(({ event, data }) => ({ event, data })));
  }
}

const refusalOf = ({ log }: PayloadLog, payloads: readonly PayloadWrite[]): Promise<string> =>
  log.commit(batch([], { payloads })).then(({ kind }) => kind, String);

const WORDS = ['plain', 'ünïcode', '😀', '𝒳𝒴', '"quoted"', 'line\nbreak', 'x'.repeat(90)];

/** A conversation of a thread and of a subgraph in it, as the modes show it. */
function startTalk(random: Random) {
  const states: Record<string, string[]> = { '': [], child: [] };
  const shown = (name: string): FrameText => {
    const path = name === '' ? '' : `|${name}:${random.int(1, 1e9)}`;
    const state = { messages: states[name]! };
    const mark = random.int(1, 1e12).toString(36);
    switch (random.pick(['values', 'values', 'debug', 'tasks', 'checkpoints', 'events', 'custom'])) {
      case 'debug':
        return frame(`debug${path}`, {
          type: 'checkpoint',
          at: mark,
          step: 3,
          payload: { values: state, mark },
        });
      case 'tasks':
        return frame(`tasks${path}`, { id: mark, name: 'n', input: state, triggers: [mark] });
      case 'checkpoints':
        return frame(`checkpoints${path}`, { values: state, metadata: { mark } });
      case 'events':
        return frame('events', {
          event: 'on_chain_end',
          run_id: mark,
          data: { input: state, output: state },
        });
      case 'custom':
        return frame(`custom${path}`, mark.repeat(random.int(1, 400)));
      default:
        return frame(`values${path}`, state);
    }
  };
  return {
    next(): FrameText {
      const name = random.pick(['', '', 'child']);
      const state = states[name]!;
      if (random.chance(0.03)) state.length = random.int(0, state.length);
      if (random.chance(0.03) && state.length > 0)
        state[random.int(0, state.length - 1)] = random.pick(WORDS);
      if (random.chance(0.6))
        state.push(Array.from({ length: random.int(1, 12) }, () => random.pick(WORDS)).join(' '));
      return shown(name);
    },
  };
}

const frame = (event: string, data: unknown): FrameText => ({ event, data: JSON.stringify(data) });

export function frameContract(test: ReturnType<typeof suite>, lend: LendPayloadLog): void {
  test('S1 S2 frames of every mode read as written while other runs are forgotten', () =>
    lend(async (given) => {
      const random = createRandom(seedFromEnv());
      for (let life = 0; life < LIVES; life++) {
        const threadId = `t${life}`;
        const talk = startTalk(random);
        const written = new Map<string, FrameText[]>();
        for (let run = 0; run < RUNS; run++) {
          const runId = `${threadId} r${run}`;
          const frames = Array.from({ length: random.int(1, 15) }, () => talk.next());
          const cut = random.int(0, frames.length);
          if (cut > 0) await put(given, runId, 0, frames.slice(0, cut), threadId);
          if (cut < frames.length) await put(given, runId, cut, frames.slice(cut), threadId);
          written.set(runId, frames);
          if (random.chance(0.4)) {
            const gone = random.pick([...written.keys()]);
            written.delete(gone);
            await given.log.commit(
              batch([], { payloads: [{ kind: 'forget-frames', runId: gone, threadId }] }),
            );
            assert.equal(await given.log.payloads.lastFrame(gone), -1);
          }
          for (const [id, expected] of written) assert.deepEqual(await readAll(given, id), expected, id);
        }
        if (life % 2 === 0) continue;
        await given.log.commit(batch([], { payloads: [{ kind: 'forget-thread-frames', threadId }] }));
        assert.equal(await countRows(given, 'frames WHERE thread = @threadId', { threadId }), 0);
      }
    }));

  const long = (seed: number, length: number): string =>
    Buffer.from(createRandom(seed).bytes(length)).toString('base64').slice(0, length);

  for (const [what, texts] of Object.entries({
    'part within a pair of halves, at the end': [`${long(1, 1500)}😀`, `${long(1, 1500)}😁${long(2, 100)}`],
    'part within a pair of halves, at the beginning': [
      `a😀${long(1, 1500)}`,
      `b\u{1fa00}${long(1, 1500)}`,
      `c😀${long(1, 1500)}`,
    ],
    'go on from what an earlier one has of its own': [
      long(1, 1024),
      long(1, 660) + long(2, 640),
      long(2, 640).slice(10) + long(3, 620),
    ],
    'are a stretch from the middle of an earlier one': [
      long(1, 4000),
      `${long(2, 500)}${long(1, 4000).slice(300, 3000)}${long(3, 500)}`,
      long(1, 4000).slice(350, 3000),
    ],
  }))
    test(`S1 given frames that ${what}, when they are read, then they are as they were written`, () =>
      lend(async (given) => {
        const frames = texts.map((data) => ({ event: 'values', data }));
        await put(given, 'r', 0, frames);
        assert.deepEqual(await readAll(given, 'r'), frames);
        const leaning = await countRows(given, 'frames WHERE bases IS NOT NULL');
        assert.equal(leaning, texts.length - 1);
      }));

  for (const [what, show] of [
    ['values', (state: unknown) => [frame('values', state)]],
    [
      'debug and tasks',
      (state: unknown, mark: string) => [
        frame('debug', {
          type: 'checkpoint',
          timestamp: mark,
          payload: { values: state, metadata: { mark } },
        }),
        frame('tasks', { id: mark, name: 'agent', input: state, triggers: [] }),
      ],
    ],
    ['values of a subgraph', (state: unknown, mark: string) => [frame(`values|child:${mark}`, state)]],
  ] as const)
    test(`P3 frames of ${what} of 200 runs occupy at most twice the last state`, () =>
      lend(async (given) => {
        const random = createRandom(7);
        const messages: string[] = [];
        for (let run = 0; run < 200; run++) {
          messages.push(Buffer.from(random.bytes(240)).toString('base64'));
          await put(given, `r${run}`, 0, show({ messages }, `${run}-${random.int(1, 1e9)}`));
        }
        const size = JSON.stringify({ messages }).length;
        const used = await bytesOf(given, 'sum');
        assert.ok(used <= 2 * size + 200 * 300, `${used} for ${size}`);
      }));

  test('S3 a page of frames ends with the one that makes it long, within a commit too', () =>
    lend(async (given) => {
      const frames = Array.from({ length: 40 }, (_, id) => frame('custom', `${id} ${long(id, 9_000)}`));
      await put(given, 'r', 0, frames);
      const page = await given.log.payloads.frames('r', -1, 100);
      assert.equal(page.length, 8);
      assert.deepEqual(await readAll(given, 'r'), frames);
      const longest = await bytesOf(given, 'max');
      assert.ok(longest <= 65_536, `${longest}`);
    }));

  test('S1 S2 runs that write at once, end or are forgotten keep their frames, also after a restart', () =>
    lend(async (given) => {
      const random = createRandom(seedFromEnv());
      const written = new Map<string, FrameText[]>();
      const gone: string[] = [];
      for (let step = 0; step < 300; step++) {
        const batches = Array.from({ length: random.int(1, 4) }, () => {
          const runId = `r${random.int(step / 25, step / 25 + 6)}`;
          if (gone.includes(runId)) return undefined;
          const own = written.get(runId) ?? [];
          written.set(runId, own);
          const first = own.length;
          const frames = Array.from({ length: random.pick([1, 1, 1, 2, 9, 40]) }, (_, n) => ({
            event: random.pick(['custom', 'custom', 'lifecycle|a:1|b', 'values']),
            data: random.chance(0.05) ? `"${'long '.repeat(300)}${n}"` : `${runId} ${own.length + n}`,
          }));
          own.push(...frames);
          const halves = [frames.slice(0, 1), frames.slice(1)];
          const payloads = halves.map((half, at): PayloadWrite => ({
            ...{ kind: 'frames', runId, threadId: 't', first: first + at },
            frames: half.map(withState),
          }));
          return given.log.commit(batch([], { payloads }));
        });
        // Refused after it was written.
        const [runId, own] = random.pick([...written]);
        const refused = [
          { kind: 'frames', runId: 'undone', threadId: 't', first: 0, frames: [frame('custom', 'x')] },
          { kind: 'frames', runId, threadId: 't', first: own.length - 1, frames: [frame('custom', 'no')] },
        ] as const;
        if (own.length > 0 && random.chance(0.2))
          assert.match(await refusalOf(given, refused), /already|version-conflict/);
        await Promise.all(batches);
        if (random.chance(0.02)) {
          await given.log.commit(batch([], { payloads: [{ kind: 'forget-frames', runId, threadId: 't' }] }));
          written.delete(runId);
          gone.push(runId);
        }
        if (random.chance(0.02)) await given.reopen();
        if (step % 30 !== 0) continue;
        for (const [id, frames] of written) {
          assert.deepEqual(await readAll(given, id), frames, id);
          assert.equal(await given.log.payloads.lastFrame(id), frames.length - 1);
          const named = frames.filter(({ event }) => event.startsWith('lifecycle'));
          const found = await given.log.payloads.framesNamed(id, 'lifecycle');
          assert.deepEqual(
            found.map(({ event, data }) => ({ event, data })),
            named,
          );
          assert.deepEqual(await given.log.payloads.framesNamed(id, 'life'), []);
        }
        for (const id of [...gone, 'undone']) assert.equal(await given.log.payloads.lastFrame(id), -1, id);
      }
      assert.ok(gone.length > 0);
    }));
}
