import * as assert from 'node:assert/strict';
import { openProgress } from '../../../src/cli/progress.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('cli/progress');

function given({ columns }: { columns?: number }) {
  const clock = createManualClock(0);
  const lines: string[] = [];
  const written: string[] = [];
  const progress = openProgress(
    {
      errorColumns: columns,
      printError: (line) => void lines.push(line),
      writeError: (text) => void written.push(text),
    },
    clock,
  );
  return { clock, lines, written, progress };
}

test('on a terminal progress is one line that is rewritten, with rate and remaining time', async () => {
  const { clock, lines, written, progress } = given({ columns: 70 });
  const at = async (ms: number, done: number) => {
    await clock.advance(ms);
    progress.report({ phase: 'checking', done, total: 40_000, unit: 'events' });
  };
  await at(0, 0);
  await at(100, 100);
  assert.deepEqual(written, [], 'short work shows nothing');
  await at(900, 10_000);
  await at(10, 10_100);
  assert.deepEqual(written, ['\r\u001b[2Kchecking: 10,000 of 40,000 events (25 %), 10,000/s, 3 s left']);
  progress.clear();
  progress.clear();
  assert.deepEqual(written.slice(1), ['\r\u001b[2K']);
  assert.deepEqual(lines, []);
});

test('without a terminal progress is a plain line every five seconds', async () => {
  const { clock, lines, written, progress } = given({});
  for (let second = 0; second <= 12; second++) {
    progress.report({ phase: 'copying', done: second * 1_500_000, total: 90e6, unit: 'bytes' });
    await clock.advance(1_000);
  }
  progress.clear();
  assert.deepEqual(lines, [
    'copying: 7.5 MB of 90.0 MB (8 %), 1.5 MB/s, 55 s left',
    'copying: 15.0 MB of 90.0 MB (16 %), 1.5 MB/s, 50 s left',
  ]);
  assert.deepEqual(written, []);
});

test('a new phase has a rate of its own', async () => {
  const { clock, written, progress } = given({ columns: 200 });
  progress.report({ phase: 'reading', done: 0, total: 10, unit: 'events' });
  await clock.advance(10_000);
  progress.report({ phase: 'reading', done: 10, total: 10, unit: 'events' });
  await clock.advance(1_000);
  progress.report({ phase: 'writing', done: 0, unit: 'pages' });
  await clock.advance(1_000);
  progress.report({ phase: 'writing', done: 250, unit: 'pages' });
  assert.deepEqual(
    written.map((text) => text.slice('\r\u001b[2K'.length)),
    ['reading: 10 of 10 events (100 %), 1/s', 'writing: 0 pages', 'writing: 250 pages, 250/s'],
  );
});

test.run();
