import assert from 'node:assert/strict';
import {
  isFrameOf,
  isRunWide,
  libraryModesOf,
  needsEvents,
  readsOf,
  STREAM_MODES,
  subgraphReadsOf,
} from '../../../src/protocol/stream-modes.ts';
import { suite } from '../../support/suite.ts';

const test = suite('protocol/stream-modes');

test('each frame is of one mode, and frames of every run are of all', () => {
  const names = ['values', 'messages', 'messages/partial', 'lifecycle', 'metadata', 'error', 'unknown'];
  const modesOf = (name: string) => STREAM_MODES.filter((mode) => isFrameOf([mode], name));
  assert.deepEqual(names.map(modesOf), [
    ['values'],
    ['messages-tuple'],
    ['messages'],
    ['lifecycle'],
    [...STREAM_MODES],
    [...STREAM_MODES],
    [],
  ]);
  assert.deepEqual(names.filter(isRunWide), ['lifecycle', 'metadata', 'error']);
});

test('the library is asked for what the modes are made of, each once', () => {
  assert.deepEqual(libraryModesOf(['messages-tuple', 'messages', 'values', 'messages-tuple']), [
    'messages',
    'values',
  ]);
  assert.deepEqual(readsOf(['messages', 'updates']), ['values']);
  assert.deepEqual(subgraphReadsOf(['lifecycle', 'tasks']), ['tasks']);
  assert.deepEqual(
    STREAM_MODES.filter((mode) => needsEvents([mode])),
    ['messages', 'events'],
  );
});

test.run();
