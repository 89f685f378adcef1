import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { readOutput } from '../../../src/workers/output.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/output');

function open() {
  const clock = createManualClock();
  const stream = new PassThrough();
  let printed = '';
  const output = readOutput(stream, clock, (text) => (printed += text));
  /** Resolves when all that was written has been read. */
  const write = (text: string | Buffer) => new Promise((resolve) => stream.write(text, resolve));
  return { clock, stream, output, write, printed: () => printed };
}

test('lines are printed whole, also when they arrive in pieces', async () => {
  const { write, printed } = open();
  const bytes = Buffer.from('first\nzwölf\n');
  for (const byte of bytes) await write(Buffer.from([byte]));
  await write('open');
  assert.equal(printed(), 'first\nzwölf\n');
});

test('a long line is cut and says by how much (X4)', async () => {
  const { write, printed } = open();
  await write(`${'x'.repeat(10_000)}\n`);
  assert.match(printed(), /^x{8192}… 1809 more characters\n$/);
});

test('a line that never ends does not pile up (X4)', async () => {
  const { write, printed } = open();
  for (let i = 0; i < 100; i++) await write('y'.repeat(1_000));
  assert.ok(printed().length > 80_000);
});

test('lines that come too fast are dropped and counted (X4)', async () => {
  const { clock, write, printed } = open();
  const line = `${'z'.repeat(1_023)}\n`;
  for (let i = 0; i < 3_000; i++) await write(line);
  const shown = printed().split('\n').length - 1;
  assert.ok(shown < 1_100, `${shown} lines`);
  await clock.advance(1_000);
  await write('after\n');
  assert.match(printed(), new RegExp(`… ${3_000 - shown} lines dropped.*\nafter\n$`));
});

test('the last output is kept for the report of an end', async () => {
  const { write, output } = open();
  for (let i = 0; i < 1_000; i++) await write(`line ${i}\n`);
  assert.match(output.tail(), /line 998\nline 999\n$/);
  assert.equal(output.tail().length, 4_096);
});

test.run();
