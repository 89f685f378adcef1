import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/output');

interface Printed {
  readonly out: string;
  readonly err: string;
  /** Each is a piece of work for the thread that passes it on. */
  readonly pieces: number;
}

/** What a thread that is set up like a worker's prints while it runs the code, as the thread above it hears it. */
async function printedBy(code: string): Promise<Printed> {
  const output = JSON.stringify(new URL('../../../src/graphs/pool/output.ts', import.meta.url).href);
  const lines = [
    `(await import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})).register();`,
    `const { limitOutput } = await import(${output});`,
    'for (const stream of [process.stdout, process.stderr]) limitOutput(stream);',
    code,
  ];
  const url = new URL(`data:text/javascript,${encodeURIComponent(lines.join('\n'))}`);
  const worker = new Worker(url, { stdout: true, stderr: true });
  const failed = new Promise<never>((_, reject) => worker.once('error', reject));
  let pieces = 0;
  const read = async (stream: Readable): Promise<string> => {
    const all: Buffer[] = [];
    // Not by iterating, which joins what waits.
    stream.on('data', (piece: Buffer) => all.push(piece));
    await once(stream, 'end');
    pieces += all.length;
    return Buffer.concat(all).toString();
  };
  const [out, err] = await Promise.race([Promise.all([read(worker.stdout), read(worker.stderr)]), failed]);
  return { out, err, pieces };
}

test('X4 given very many small writes in one turn, when they are passed on, then all of them are there, in a few pieces', async () => {
  const { out, pieces } = await printedBy(
    'for (let i = 0; i < 100_000; i++) process.stdout.write(`${i}\\n`);',
  );
  assert.ok(out === Array.from({ length: 100_000 }, (_, i) => `${i}\n`).join(''));
  assert.ok(pieces < 100, `${pieces} pieces`);
});

test('X4 given a flood in one turn, when it is passed on, then what came first is whole, and one line says how much is left out', async () => {
  const { out, pieces } = await printedBy(
    "for (let i = 0; i < 3_000_000; i++) process.stdout.write('y\\n');\n" +
      "process.stdout.once('drain', () => process.stdout.write('after it\\n'));",
  );
  const [, lines = '', count] =
    /^((?:y\n)+)… (\d+) more writes are left out: .*\nafter it\n$/.exec(out) ?? assert.fail(out.slice(-300));
  assert.equal(lines.length / 2 + Number(count), 3_000_000);
  assert.ok(lines.length < 2_000_000, `${lines.length} characters`);
  assert.ok(pieces < 100, `${pieces} pieces`);
});

test('X4 given one text larger than what may wait, when more is written behind it, then it is whole, and the rest is told of at once', async () => {
  const { out } = await printedBy(
    "process.stdout.write('x'.repeat(20_000_000));\nfor (let i = 0; i < 3; i++) process.stdout.write('y\\n');",
  );
  assert.ok(out.startsWith('x'.repeat(20_000_000)));
  assert.match(out.slice(20_000_000), /^… 3 more writes are left out: .*\n$/);
});

test('X4 given single texts and bytes that are very long, when they are passed on, then their beginnings are, and a line each says how much is left out', async () => {
  const { out, err } = await printedBy(`
    let called = 0;
    const after = () => (called += 1) === 4 && process.stderr.write('all called');
    const write = (...given) => new Promise((resolve) => process.stdout.write(...given, () => resolve(after())));
    await write('y'.repeat(40_000_000) + '\\n');
    await write('.' + '🦉'.repeat(20_000_000));
    await write(Buffer.alloc(40_000_000, 'z'));
    await write('61'.repeat(20_000_000), 'hex');
    process.stdout.write('after them\\n');`);
  const most = 2 ** 25;
  const parts = [
    ['y'.repeat(most), `${40_000_001 - most} more characters are`],
    [`.${'🦉'.repeat(most / 2 - 1)}`, `${40_000_001 - most + 1} more characters are`],
    ['z'.repeat(most), `${40_000_000 - most} more bytes are`],
    ['a'.repeat(most / 2), `${40_000_000 - most} more characters are`],
  ];
  const expected = parts.map(([text, left]) => `${text}… ${left} left out: the text is too long\n`).join('');
  assert.ok(out === `${expected}after them\n`, `${out.length} characters, ${expected.length} expected`);
  assert.equal(err, 'all called');
});

test('given texts, bytes and other encodings mixed, when they are written in one turn, then the bytes are the same', async () => {
  const { out } = await printedBy(
    "process.stdout.write('first ');\nprocess.stdout.write(Buffer.from('ünï'));\n" +
      "process.stdout.write('636f6465', 'hex');\nprocess.stdout.write('🦉');\nprocess.stdout.write('');",
  );
  assert.equal(out, 'first ünïcode🦉');
});

test('given characters that take two places, when a long text of them is written, then none is cut in two', async () => {
  const { out } = await printedBy("process.stdout.write(`.${'🦉'.repeat(100_000)}`);");
  assert.equal(out, `.${'🦉'.repeat(100_000)}`);
});

test('given callbacks, when small and left out writes have them, then all are called, and room is told of', async () => {
  const { err } = await printedBy(`
    let called = 0;
    process.stdout.write('with an encoding', 'utf8', () => (called += 1));
    process.stdout.write('x'.repeat(20_000_000), () => (called += 1));
    const isRoom = process.stdout.write('left out', () => (called += 1));
    process.stdout.once('drain', () =>
      setImmediate(() => process.stderr.write(\`\${called} called, \${isRoom}\`)));`);
  assert.equal(err, '3 called, false');
});

test('given lines on both outputs, when the thread exits right after them, then all of them are there', async () => {
  const { out, err } = await printedBy(
    'for (let i = 0; i < 5; i++) { console.log(i); console.error(i); }\nprocess.exit(0);',
  );
  assert.deepEqual([out, err], ['0\n1\n2\n3\n4\n', '0\n1\n2\n3\n4\n']);
});

test.run();
