/** X7 A later attempt asks nothing again whose answer was committed: runs of real graphs, killed at random moments. */
import assert from 'node:assert/strict';
import { UUIDS } from '../../src/kernel/embedded-ids.ts';
import { NEWEST_LINE } from '../projects/lines.ts';
import { createRandom } from '../support/random.ts';
import { scaled } from '../support/scaled.ts';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { onLine, withScene, type RunRef, type Scene } from './resume-scene.ts';

const test = suite('answers of earlier attempts');
const scene = shared<Scene>(test, async (use) => withScene(use, {}, await onLine(NEWEST_LINE)));
const older = suite('answers of earlier attempts, line 0.2');
const olderScene = shared<Scene>(older, async (use) => withScene(use, {}, await onLine('0.2')));

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
/** Kills of each graph in both ways; 0 for one in one of them, which the seed decides. */
const KILLS = Number(process.env['RESUME_KILLS'] ?? 0);
const GRAPHS = ['calls', 'agent', 'tools', 'deep', 'functional', 'plain'];
const INPUT = {
  input: { messages: [{ role: 'user', content: 'hello', id: 'm' }] },
  stream_mode: ['values', 'updates'],
};
/** Time within which an answer is in the log. */
const COMMIT_MS = 50;

/** What a run asks and leaves when nothing disturbs it, by server and graph. */
const undisturbed = new WeakMap<Scene, Map<string, Promise<Undisturbed>>>();
interface Undisturbed {
  readonly asked: readonly string[];
  readonly values: unknown;
  readonly history: unknown;
  readonly frames: readonly (readonly string[])[];
}

/** Equal requests have no names of their own, and ids of messages are drawn. */
const unnumbered = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/same \d+/g, 'same')
      .replaceAll(UUIDS, 'id'),
  );

/**
 * Frames as texts, by step. Parallel tasks of a step have no order, so which of their messages has an id when it is shown
 * differs. The library marks what tasks had written before: `cached`.
 */
function inSteps(frames: readonly (readonly [string, unknown])[]): string[][] {
  const steps: string[][] = [[]];
  for (const frame of frames) {
    const text = JSON.stringify(unnumbered(frame)).replace(',"__metadata__":{"cached":true}', '');
    steps.at(-1)!.push(text.replaceAll(/"id":"(?:run-)?id",/g, ''));
    if (frame[0] === 'values') steps.push([]);
  }
  return steps.filter(({ length }) => length > 0).map((step) => step.sort());
}

function runAlone(given: Scene, graph: string): Promise<Undisturbed> {
  const { model, begin, end, history, frames } = given;
  const byGraph = undisturbed.get(given) ?? new Map<string, Promise<Undisturbed>>();
  undisturbed.set(given, byGraph);
  let known = byGraph.get(graph);
  if (known === undefined) {
    known = (async () => {
      model.asked.length = 0;
      const run = await begin(graph, INPUT);
      const values = unnumbered(await end(run));
      const shown = inSteps((await frames(run)).flat());
      return { asked: [...model.asked], values, history: unnumbered(await history(run)), frames: shown };
    })();
    byGraph.set(graph, known);
  }
  return known;
}

async function killOnce(given: Scene, graph: string, how: 'worker' | 'server', seed: number): Promise<void> {
  const { model } = given;
  const random = createRandom(seed);
  const alone = await runAlone(given, graph);
  model.asked.length = 0;
  model.answered.clear();
  model.delay = () => random.int(0, 60);
  const last = random.int(1, alone.asked.length);
  // when
  const run = await given.begin(graph, INPUT);
  await until('the run has asked', async () => model.asked.length >= last);
  await new Promise<void>((resolve) => setTimeout(resolve, random.int(0, 80)));
  let before: string[] = [];
  let answered: string[] = [];
  let times = new Map<string, number>();
  const killedAt = Date.now();
  const look = async (): Promise<void> => {
    answered = await answeredIn(given, run);
    before = [...model.asked];
    times = new Map(model.answered);
  };
  if (how === 'server') await given.killServer(look);
  else {
    await given.killWorkers();
    await look();
  }
  const values = await given.end(run);
  // then
  const after = model.asked.slice(before.length);
  const hint = `${graph}, seed ${seed}: asked ${before.join()}; answered in the log ${answered.join()}; asked then ${after.join()}`;
  assert.deepEqual(
    after.filter((name) => answered.includes(name)),
    [],
    hint,
  );
  const isSame = (name: string): boolean => name.startsWith('same');
  const isOpen = (name: string): boolean => killedAt - (times.get(name) ?? killedAt) < scaled(COMMIT_MS);
  const again = after.filter((name) => !isSame(name) && before.includes(name));
  assert.ok(again.filter((name) => !isOpen(name)).length === 0, hint);
  const expected = alone.asked.filter(isSame).length - answered.filter(isSame).length;
  assert.ok(after.filter(isSame).length <= expected, hint);
  assert.deepEqual(unnumbered(values), alone.values, hint);
  assert.deepEqual(unnumbered(await given.history(run)), alone.history, hint);
  const shown = inSteps((await given.frames(run)).at(-1)!);
  // The library shows the state that it resumes from, which ends the step before, unless the run has not changed it.
  const [state, ...rest] = shown[0]?.length === 1 ? shown : [undefined, ...shown];
  const from = alone.frames.length - rest.length;
  if (state !== undefined && from > 0) assert.equal(state[0], alone.frames[from - 1]!.at(-1), hint);
  // It does not show again what some tasks of the step had written.
  const [step = [], ...later] = rest;
  const missing = step.filter((frame) => !alone.frames[from]!.includes(frame));
  assert.deepEqual([missing, later], [[], alone.frames.slice(from + 1)], hint);
}

/** Names of the calls whose answers the log has: as kept calls, or in what tasks have written. */
async function answeredIn({ kept }: Scene, run: RunRef): Promise<string[]> {
  return (await kept(run)).map(({ body }) => Buffer.from(body).toString().replace('answer to ', ''));
}

for (const [at, graph] of GRAPHS.entries())
  for (const [way, how] of (['worker', 'server'] as const).entries())
    if (KILLS > 0 || (SEED + at) % 2 === way)
      test(`what ${graph} was answered before the ${how} was killed is not asked again (X7)`, async () => {
        for (let kill = 0; kill < Math.max(1, KILLS); kill++)
          await killOnce(scene(), graph, how, SEED + kill);
      });

for (const graph of ['calls', 'agent', 'functional'])
  older(`what ${graph} was answered before the worker was killed is not asked again (X7)`, async () => {
    for (let kill = 0; kill < Math.max(1, KILLS); kill++)
      await killOnce(olderScene(), graph, 'worker', SEED + kill);
  });

test.run();
older.run();
