import assert from 'node:assert/strict';
import type { StoredFrame } from '../../../src/store/port/payloads.ts';
import { openNamespaceFilter, parseNamespace } from '../../../src/streams/namespace-filter.ts';
import { wantedFrames } from '../../../src/streams/wanted-frames.ts';
import { suite } from '../../support/suite.ts';

const test = suite('streams/wanted-frames');

const frame = (id: number, event: string, data = 'null'): StoredFrame => ({ id, event, data, at: 1 });
const begun = (id: number, place: string, call?: string): StoredFrame =>
  frame(id, `lifecycle|${place}`, JSON.stringify({ event: 'started', ...(call && { tool_call_id: call }) }));

async function* pagesOf(...pages: StoredFrame[][]): AsyncGenerator<StoredFrame[]> {
  yield* pages;
}
async function read(
  pages: StoredFrame[][],
  wants: (frame: StoredFrame) => boolean,
): Promise<StoredFrame[][]> {
  const read: StoredFrame[][] = [];
  for await (const page of wantedFrames(pagesOf(...pages), wants)) read.push(page);
  return read;
}

test('S3 a page that is wanted whole and a large frame among others are the same arrays for all readers', async () => {
  const large = frame(2, 'values', JSON.stringify('x'.repeat(70_000)));
  const pages = [[frame(0, 'metadata')], [frame(1, 'values|a:1'), large, frame(3, 'values')]];
  const wants = ({ event }: StoredFrame): boolean => !event.includes('|');
  const [one, other] = [await read(pages, wants), await read(pages, wants)];
  assert.deepEqual(
    one.map((page) => page.map(({ id }) => id)),
    [[0], [2], [3]],
  );
  assert.deepEqual(one, other);
  assert.equal(one[0], pages[0]);
  assert.equal(one[1], other[1]);
});

test('S3 pages of which nothing is wanted are passed by, and everything else has its turn meanwhile', async () => {
  let turns = 0;
  // Turns of the event loop: a timer may not fire within so short a time.
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  const pages = Array.from({ length: 200 }, (_, id) => [frame(id, 'values|a:1')]);
  assert.deepEqual(await read(pages, () => false), []);
  clearImmediate(next);
  assert.ok(turns > 0);
});

test('a namespace wants its graph and those within, but for what a tool call begins below it', () => {
  const { wants } = openNamespaceFilter(['', 'a:1|tools:2', 'c:3'].map(parseNamespace));
  const wanted = (event: string): boolean => wants(frame(0, event));
  for (const event of [
    'values',
    'messages|a:1',
    'values|a:1|b:1',
    'updates|a:1|tools:2',
    'values|a:1|tools:2|d:4',
  ])
    assert.ok(wanted(event), event);
  for (const event of [
    'values|tools:1',
    'values|a:1|tools:3',
    'values|a:1|tools:2|tools:9',
    'custom|tools:1|a:1',
  ])
    assert.ok(!wanted(event), event);
  for (const event of ['metadata', 'error', 'lifecycle|tools:1', 'lifecycle|tools:1|x:1'])
    assert.ok(wanted(event), event);
});

test('tool calls are known from frames of the mode lifecycle, those behind the reader too', () => {
  const { wants } = openNamespaceFilter([[]], [begun(1, 'c:3', 'call-1'), begun(2, 'd:4')]);
  const wanted = (event: string): boolean => wants(frame(9, event));
  assert.deepEqual(['values|c:3', 'values|c:3|e:5', 'values|d:4', 'values|f:6'].map(wanted), [
    false,
    false,
    true,
    true,
  ]);
  assert.ok(wants(begun(10, 'f:6', 'call-2')));
  assert.ok(!wanted('values|f:6'));
});

test.run();
