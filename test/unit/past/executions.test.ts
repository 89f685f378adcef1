import assert from 'node:assert/strict';
import { compareTraces } from '../../../src/past/compare/executions.ts';
import { compareValues, normalFormOf } from '../../../src/past/compare/values.ts';
import { lineDifference } from '../../../src/past/reexecution/print.ts';
import type { RunTrace } from '../../../src/past/trace.ts';
import { suite } from '../../support/suite.ts';

const test = suite('comparison of executions');

const A = '5b8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a01';
const B = '0a8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a02';
const C = '1c8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a03';

const OPTIONS = { isPartial: false, isStopped: false, replaced: new Set<string>(), withFrames: true };

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

const compare = (recorded: RunTrace, found: RunTrace, options = {}) =>
  compareTraces({ ...OPTIONS, recorded, found, ...options });

test('ids, times and durations are no differences; everything else is', () => {
  const form = (value: any): string => normalFormOf(value).text;
  assert.equal(
    form({ id: `run-${A}`, at: '2026-11-25T10:00:00Z', created: 1_795_600_000_000, latency_ms: 5 }),
    form({ created: 1_795_600_000_999, id: `run-${B}`, at: '2027-01-01T00:00:00.5+00:00', latency_ms: 9 }),
  );
  assert.notEqual(form({ latency: 'high' }), form({ latency: 'low' }));
  assert.notEqual(form([A, A]), form([A, B]));
  assert.deepEqual(compareValues({ list: [{ text: 'a', id: A }] }, { list: [{ text: 'b', id: B }] }), {
    path: 'list[0].text',
    recorded: 'a',
    found: 'b',
  });
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
  const recorded = trace('old', [{ channels: { a: A } }, { channels: { b: A } }]);
  const found = trace('new', [{ channels: { a: B } }, { channels: { b: C } }]);
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

test('frames are compared in order within their task, and ends by kind and message', () => {
  // given
  const chunk = (node: string, text: string) => ({
    event: 'messages',
    data: JSON.stringify([{ content: text }, { langgraph_checkpoint_ns: `${node}:1` }]),
  });
  const of = (...frames: RunTrace['frames']): RunTrace => trace('a', [], frames);
  const recorded = of(chunk('a', '1'), chunk('b', '1'), chunk('a', '2'));
  // then
  assert.equal(
    compare(recorded, of(chunk('b', '1'), chunk('a', '1'), chunk('a', '2'))).divergence,
    undefined,
  );
  const swapped = compare(recorded, of(chunk('a', '2'), chunk('b', '1'), chunk('a', '1'))).divergence;
  assert.equal(swapped?.what, 'frame');
  const failed: RunTrace = { ...recorded, outcome: { kind: 'error', error: 'Error', message: 'no' } };
  assert.equal(compare(failed, recorded).divergence?.what, 'end');
});

test('a difference of texts shows the lines around it', () => {
  assert.deepEqual(lineDifference(['a', 'b', 'c', 'd', 'e', 'f'], ['a', 'b', 'c', 'X', 'e', 'f']), [
    ...['  b', '  c', '- d', '+ X', '  e', '  f'],
  ]);
});

test.run();
