/** A file with a right digest may still be made by anybody: all that a log relies on is checked. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toContainer } from '../../../src/archive/container.ts';
import { inspect } from '../../../src/archive/inspect.ts';
import { SERVED_HISTORY, type HistoryLimits } from '../../../src/archive/limits.ts';
import { openExport } from '../../../src/archive/read.ts';
import { FORMAT } from '../../../src/archive/records.ts';
import { threadStream, type ThreadEvent } from '../../../src/thread/events.ts';
import { fact, THREAD } from '../../support/given.ts';
import { counted } from '../../support/hostile-files.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('archive/inspect');

const RUN = '01980000-0000-7000-8000-00000000000a';
const OTHER = '01980000-0000-7000-8000-00000000000b';

interface Made {
  readonly head: Record<string, unknown>;
  readonly body?: string;
}

const HEADER: Made = {
  head: {
    ...{ kind: 'header', program: '0.0.0', exportedAt: 1, thread: { id: THREAD } },
    ...{ graphs: [], assistants: [], libraries: {} },
  },
};
const payload = (kind: string, more: object, body = '{}'): Made => ({
  head: { kind, thread: THREAD, encoding: 'json', ...more },
  body,
});
const frame = (id: number, more: object = {}, body = '{}'): Made =>
  payload('frame', { run: RUN, id, event: 'values', at: 1, ...more }, body);
const checkpoint = (id: string, more: object = {}): Made =>
  payload('checkpoint', {
    ...{ run: RUN, ns: '', id, parent: null, at: 1, lastFrame: null },
    ...{ metadata: {}, versions: {}, valueChannels: [], ...more },
  });
const events = (...facts: readonly (ThreadEvent | { type: string; data: unknown })[]): Made[] =>
  facts.map(({ type, data }, index) => ({
    head: {
      ...{
        kind: 'event',
        stream: threadStream(THREAD),
        version: index + 1,
        type,
        schema: type === 'RunRequeued' ? 2 : 1,
      },
      ...{ at: 1, encoding: 'json' },
    },
    body: JSON.stringify(data),
  }));
const RUNS = [fact.created(), fact.runCreated(RUN), fact.started(RUN)];

/** The reason why the file is refused, undefined when it is not. `end`: the last record, counted by default. */
async function reasonFor(
  dir: string,
  made: readonly Made[],
  { end, limits }: { end?: Made; limits?: HistoryLimits } = {},
): Promise<string | undefined> {
  const path = join(dir, 'made');
  const all: readonly Made[] = end === undefined ? counted(made) : [...made, end];
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const { head, body } of all) {
      const length = body === undefined ? {} : { bytes: Buffer.byteLength(body) };
      yield Buffer.from(
        `${JSON.stringify({ ...length, ...head })}\n${body === undefined ? '' : `${body}\n`}`,
      );
    }
  }
  await writeFile(path, toContainer(FORMAT, bytes()));
  const file = await openExport(path, { name: 'made' });
  try {
    await inspect(file, limits);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await file.close();
  }
}

test('a file is accepted when everything that its events speak of is there', () =>
  withTempDir(async (dir) => {
    const facts = [
      ...RUNS,
      fact.saved(RUN, 'c'),
      { type: 'RunCompleted', data: { ...fact.completed(RUN).data, head: 'c' } },
    ];
    assert.equal(
      await reasonFor(dir, [HEADER, checkpoint('c'), frame(0), frame(1), ...events(...facts)]),
      undefined,
    );
    assert.equal(await reasonFor(dir, [HEADER, ...events(fact.created())]), undefined);
  }));

test('L2 S1 P3 D2 contents that a log cannot hold are refused with the record that has them', () =>
  withTempDir(async (dir) => {
    const deep = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;
    const value = (head: object, body: string): Made =>
      payload('value', { run: 'x', ns: '', channel: 'c', version: '1', ...head }, body);
    const cases: readonly [why: string, made: readonly Made[], reason: RegExp][] = [
      ['no header', events(fact.created()), /does not begin with one header/],
      ['two headers', [HEADER, HEADER, ...events(fact.created())], /does not begin with one header/],
      ['no events', [HEADER], /no events/],
      [
        'an unknown kind',
        [HEADER, payload('secret', { run: RUN })],
        /kind secret, which this version does not know/,
      ],
      ['an unknown event', [HEADER, ...events({ type: 'Exploded', data: {} })], /type Exploded/],
      [
        'an event of another aggregate',
        [HEADER, ...events({ type: 'ItemPut', data: {} })],
        /ItemPut is no event of a thread/,
      ],
      [
        'a first event that makes no thread',
        [HEADER, ...events(fact.updated({}))],
        /cannot happen in "absent"/,
      ],
      [
        'an impossible event',
        [HEADER, ...events(fact.created(), fact.started(RUN))],
        /event 2: RunStarted cannot happen in "idle"/,
      ],
      ['a deleted thread', [HEADER, ...events(fact.created(), fact.deleted())], /its thread is deleted/],
      [
        'a run that comes twice',
        [HEADER, ...events(...RUNS, fact.completed(RUN), fact.runCreated(RUN))],
        /is there already/,
      ],
      [
        'an event of another thread',
        [HEADER, ...events(fact.created({}, false, OTHER))],
        /of another thread/,
      ],
      [
        'a member of the wrong type',
        [
          HEADER,
          ...events({ type: 'ThreadCreated', data: { threadId: THREAD, metadata: 'x', temporary: false } }),
        ],
        /ThreadCreated.metadata/,
      ],
      [
        'a member that is not known',
        [HEADER, ...events({ type: 'ThreadDeleted', data: { threadId: THREAD, x: 1 } })],
        /Unrecognized key/,
      ],
      [
        'a webhook',
        [
          HEADER,
          ...events(fact.created(), {
            type: 'RunCreated',
            data: {
              ...fact.runCreated(RUN).data,
              kwargs: {
                input: null,
                config: {},
                streamMode: [],
                streamSubgraphs: false,
                webhook: 'http://x',
              },
            },
          }),
        ],
        /RunCreated.kwargs/,
      ],
      [
        'deep nesting',
        [
          HEADER,
          ...events({
            type: 'ThreadCreated',
            data: { threadId: THREAD, metadata: JSON.parse(deep) as object, temporary: false },
          }),
        ],
        /event 1 is nested deeper than 800 levels/,
      ],
      ['a gap in frames', [HEADER, frame(0), frame(2)], /frame 2 where 1 was expected/],
      ['a frame on two lines', [HEADER, frame(0, {}, '{\n}')], /not on one line/],
      [
        'an event name on two lines',
        [HEADER, frame(0, { event: 'a\ndata: x' })],
        /record 1 \(frame\), event/,
      ],
      [
        'frames of a foreign run',
        [HEADER, frame(0), ...events(fact.created())],
        /contents of run .* but not the run/,
      ],
      [
        'a missing checkpoint',
        [HEADER, ...events(...RUNS, fact.saved(RUN, 'c'))],
        /checkpoint \["","c"\] is missing/,
      ],
      ['no JSON', [HEADER, value({}, '{')], /text of a value is no JSON/],
      ['a deep value', [HEADER, value({}, deep)], /text of a value is nested deeper than 800 levels/],
      [
        'a value of many lists',
        [HEADER, value({}, `[${'[],'.repeat(1_000_000)}0]`)],
        /text of a value is made of more than 5000000 values/,
      ],
      [
        'an event of many lists',
        [HEADER, ...events({ type: 'ThreadCreated', data: { metadata: Array(110_000).fill([]) } })],
        /text of event 1 is made of more than 520000 values/,
      ],
      ['a long head', [HEADER, frame(0, { event: 'x'.repeat(1_100_000) })], /of at most 1048576 bytes/],
      [
        'a head of many lists',
        [HEADER, frame(0, { more: Array(30_000).fill([]) })],
        /head of a record is made of/,
      ],
      ['a kind that is no text', [HEADER, { head: { kind: { toString: 1 } } }], /record 1 has no kind/],
      [
        'a length that is no number',
        [HEADER, { head: { kind: 'event', bytes: { toString: 1 } } }],
        /a record of {"toString":1} bytes/,
      ],
      ['a body of another length', [HEADER, frame(0, { bytes: 1 })], /no line feed follows/],
      [
        'ids without end',
        [
          HEADER,
          ...Array.from({ length: 1_100 }, (_, at) => checkpoint('c', { ns: `${at}${'x'.repeat(65_000)}` })),
        ],
        /too many, or have too long names/,
      ],
      [
        'a payload of another thread',
        [HEADER, payload('untracked', { run: RUN, thread: OTHER })],
        /of another thread/,
      ],
      [
        'a base that is not there',
        [HEADER, value({ splice: { of: 9, head: 0, start: 0, kept: 1 } }, '1')],
        /leans on a text that is not there/,
      ],
      [
        'a base that is too short',
        [HEADER, value({}, '1'), value({ splice: { of: 1, head: 0, start: 0, kept: 5 } }, '')],
        /leans on a text that is not there/,
      ],
      ['a time beyond all dates', [HEADER, frame(0, { at: 9e15 })], /record 1 \(frame\), at/],
      [
        'a body that is too long',
        [HEADER, { head: { kind: 'event', bytes: 1e15 } }],
        /a record of 1000000000000000 bytes, where at most 25165824/,
      ],
      [
        'an event of a later schema',
        [
          HEADER,
          ...events(fact.created()).map(({ head, body }) => ({ head: { ...head, schema: 9 }, body: body! })),
        ],
        /stored as version 9/,
      ],
    ];
    for (const [why, made, reason] of cases)
      assert.match((await reasonFor(dir, made)) ?? 'accepted', reason, why);
    const end = { head: { kind: 'end', counts: { header: 1, event: 5 } } };
    assert.match(
      (await reasonFor(dir, [HEADER, ...events(fact.created())], { end })) ?? '',
      /has 1 records of the kind event, its end says 5/,
    );
  }));

test('more events than one commit of a running server takes are refused with a way out', () =>
  withTempDir(async (dir) => {
    const made = [HEADER, ...events(fact.created(), fact.updated({ x: 'x'.repeat(100) }))];
    const limitedTo = (few: Partial<HistoryLimits>): Promise<string | undefined> =>
      reasonFor(dir, made, { limits: { ...SERVED_HISTORY, ...few } });
    assert.equal(await limitedTo({ maxEvents: 2 }), undefined);
    assert.match((await limitedTo({ maxEvents: 1 })) ?? '', /more than 1 events, .* "rewound import FILE"/);
    assert.match((await limitedTo({ maxUtf16Units: 100 })) ?? '', /100 characters of them/);
  }));

test.run();
