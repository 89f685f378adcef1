import assert from 'node:assert/strict';
import { compareTraces } from '../../../src/past/compare/executions.ts';
import { sideOf } from '../../../src/past/compare/side.ts';
import { agree, compareValues, type Side } from '../../../src/past/compare/values.ts';
import { lineDifference } from '../../../src/past/reexecution/print.ts';
import type { RunTrace } from '../../../src/past/trace.ts';
import { suite } from '../../support/suite.ts';
import { CHANGES } from '../../support/value-changes.ts';

const test = suite('comparison of executions');

const A = '5b8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a01';
const B = '0a8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a02';
const C = '1c8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a03';

const OPTIONS = {
  ...{ isPartial: false, isStopped: false, replaced: new Set<string>(), withFrames: true },
  nodeOf: () => undefined,
};

interface Step {
  readonly channels: Record<string, unknown>;
  readonly writes?: readonly [path: string, channel: string, value: unknown][];
}

/** A run of root steps; ids differ by `salt`. */
function trace(salt: string, steps: readonly Step[], frames: RunTrace['frames'] = []): RunTrace {
  const idOf = (index: number): string => `${salt}-${index}`;
  return {
    checkpoints: steps.map(({ channels }, index) => ({
      ...{ ns: '', checkpointId: idOf(index), parentId: index === 0 ? null : idOf(index - 1) },
      metadata: { source: index === 0 ? 'input' : 'loop', step: index - 1 },
      channels: new Map(Object.entries(channels).map(([name, value]) => [name, JSON.stringify(value)])),
      changed: new Set(Object.keys(channels)),
    })),
    writes: steps.flatMap(({ writes = [] }, index) =>
      writes.map(([taskPath, channel, value], idx) => ({
        ...{ ns: '', checkpointId: idOf(index - 1), taskId: `${salt}-task-${idx}` },
        ...{ taskPath: `~__pregel_pull, ${taskPath}`, idx: 0, channel, data: JSON.stringify(value) },
      })),
    ),
    frames,
    outcome: { kind: 'success', next: [], interrupts: {} },
  };
}

const compare = (recorded: RunTrace, found: RunTrace, options = {}) => {
  const sides = { recorded: sideOf(recorded, side()), found: sideOf(found, side()) };
  return compareTraces({ ...OPTIONS, recorded, found, sides, ...options });
};

const AT = Date.parse('2026-11-25T10:00:00Z');
const SPAN = { from: AT - 1_000, until: AT + 5_000 };
const side = (given: Partial<Side> = {}): Side => ({ ids: new Set(), ...SPAN, isLoose: false, ...given });
const STRICT = { recorded: side(), found: side() };

const NAMES = [
  ...['items', 'params', 'teams', 'latency_ms', 'durationMs', 'took', 'elapsed', 'attempt', 'run_attempt'],
  ...['langgraph_version', 'created', 'created_at', 'timestamp', 'id', 'run_id', 'checkpoint_id', 'ts', 'x'],
];

test('no changed value is left out, of any type and under any name', () => {
  for (const name of NAMES)
    for (const [recorded, found] of CHANGES)
      for (const [a, b] of [
        [recorded, found],
        [found, recorded],
      ]) {
        const wrap = (value: unknown): any => ({ list: [{ [name]: value }] });
        const difference = compareValues(wrap(a), wrap(b), STRICT);
        assert.ok(difference?.path.startsWith(`list[0].${name}`), `${name}: ${JSON.stringify([a, b])}`);
        assert.equal(compareValues(wrap(a), wrap(a), STRICT), undefined);
      }
});

test('ids of columns and UUIDs of the time of the run may differ one to one, and no others', () => {
  const seven = (ms: number, tail: string) =>
    `${ms.toString(16).padStart(12, '0').replace(/^.{8}/, '$&-')}-7000-8000-${tail.padStart(12, '0')}`;
  const [a, b] = [seven(AT, '1'), seven(AT + 5, '2')];
  assert.ok(agree({ id: `run-${a}` }, { id: `run-${b}` }, STRICT));
  assert.equal(agree(a, seven(AT + 3_600_000, '2'), STRICT), false);
  assert.equal(agree([a, a], [a, b], STRICT), false);
  const columns = { recorded: side({ ids: new Set([A]) }), found: side({ ids: new Set([B]) }) };
  assert.ok(agree([A, `ns:${A}`], [B, `ns:${B}`], columns));
  assert.equal(agree(A, C, columns), false);
});

test('executions with clocks of their own differ in UUIDs and in times within each of them alone', () => {
  const other = AT + 86_400_000;
  const sides = {
    recorded: side({ isLoose: true }),
    found: side({ isLoose: true, from: other, until: other + 5_000 }),
  };
  const [here, there] = [AT, other].map((ms) => [ms + 5, new Date(ms + 7).toISOString(), `run-${A}`]);
  assert.ok(agree(here!, [...there!.slice(0, 2), `run-${B}`], sides));
  assert.equal(agree(here!, here!, sides), false);
  assert.equal(agree({ took_ms: 5 }, { took_ms: 6 }, sides), false);
});

test('parallel tasks may write in any order; a changed value is named by step, node, channel and path', () => {
  // given
  const steps = (second: string): Step[] => [
    { channels: { topic: 'cats' } },
    {
      channels: { notes: ['x', second] },
      writes: [
        ['a', 'notes', ['x']],
        ['b', 'notes', [second]],
      ],
    },
  ];
  const recorded = trace('old', steps('y'));
  // when
  const same = trace('new', steps('y'));
  const reordered = { ...same, writes: same.writes.toReversed() };
  const changed = trace('new', steps('z'));
  // then
  assert.equal(compare(recorded, reordered).divergence, undefined);
  assert.deepEqual(compare(recorded, changed).divergence, {
    ...{ what: 'write', step: 0, node: 'b', channel: 'notes', path: '[0]', recorded: 'y', found: 'z' },
  });
});

test('an id that stands for two others is a difference', () => {
  // given
  const of = (...ids: string[]): RunTrace => {
    const { checkpoints, ...rest } = trace('old', [{ channels: { a: ids[0] } }, { channels: { b: ids[1] } }]);
    return { ...rest, checkpoints: checkpoints.map((each, at) => ({ ...each, ns: `n:${ids[at]}` })) };
  };
  const [recorded, found] = [of(A, A), of(B, C)];
  // when
  const { divergence } = compare(recorded, found);
  // then
  assert.equal(divergence?.channel, 'b');
  assert.deepEqual([divergence?.recorded, divergence?.found], [A, C]);
});

test('a missing and a further step are differences, unless the execution ended early or the run was stopped', () => {
  // given
  const short = trace('a', [{ channels: { n: 1 } }]);
  const long = trace('b', [{ channels: { n: 1 } }, { channels: { n: 2 } }]);
  // then
  assert.equal(compare(long, short).divergence?.what, 'checkpoint');
  assert.equal(compare(short, long).divergence?.what, 'checkpoint');
  assert.equal(compare(long, short, { isPartial: true }).divergence, undefined);
  assert.equal(compare(short, long, { isStopped: true }).divergence, undefined);
});

test('frames are compared in order, ends by kind and message', () => {
  // given
  const chunk = (node: string, text: string) => ({
    event: 'messages',
    data: JSON.stringify([{ content: text }, { langgraph_node: node }]),
  });
  const of = (...frames: RunTrace['frames']): RunTrace => trace('a', [], frames);
  const recorded = of(chunk('a', '1'), chunk('b', '1'), chunk('a', '2'));
  // when
  const swapped = of(chunk('b', '1'), chunk('a', '1'), chunk('a', '2'));
  // then
  assert.equal(compare(recorded, recorded).divergence, undefined);
  assert.equal(compare(recorded, swapped).divergence?.what, 'frame');
  assert.equal(compare(recorded, of(chunk('a', '1'), chunk('b', '1'))).divergence?.node, 'a');
  const failed: RunTrace = { ...recorded, outcome: { kind: 'error', error: 'Error', message: 'no' } };
  assert.equal(compare(failed, recorded).divergence?.what, 'end');
});

test('a difference of texts shows the lines around it', () => {
  assert.deepEqual(lineDifference(['a', 'b', 'c', 'd', 'e', 'f'], ['a', 'b', 'c', 'X', 'e', 'f']), [
    ...['  b', '  c', '- d', '+ X', '  e', '  f'],
  ]);
});

test.run();
