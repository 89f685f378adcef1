import * as assert from 'uvu/assert';
import fc from 'fast-check';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { readChannel, writeChannel } from '../../../src/store/sqlite/payloads/channel-store.ts';
import { createCheckpointKeys } from '../../../src/store/sqlite/payloads/checkpoint-keys.ts';
import { prepareSchema } from '../../../src/store/sqlite/schema.ts';
import { createStatements, type Prepare } from '../../../src/store/sqlite/statements.ts';
import { suite } from '../../support/suite.ts';

const test = suite('channel store');
const place = { thread: 1, ns: '' };
const versionOf = (index: number): string => `${String(index).padStart(8, '0')}.x`;

function withStore(use: (prepare: Prepare) => void): void {
  const db = openConnection(':memory:');
  try {
    prepareSchema(db);
    use(createStatements(db));
  } finally {
    db.close();
  }
}

const write = (prepare: Prepare, index: number, value: unknown): void =>
  void writeChannel(
    prepare,
    createCheckpointKeys(prepare),
    place,
    { channel: 'messages', version: versionOf(index), data: JSON.stringify(value) },
    1,
  );
const read = (prepare: Prepare, index: number): unknown =>
  JSON.parse(readChannel(prepare, place, 'messages', versionOf(index)) ?? 'null');

test('P3 given a list that grows a thousand times, then it occupies hardly more than its final size', () => {
  withStore((prepare) => {
    const message = (i: number) => ({
      type: 'ai',
      content: `message number ${i} ${'x'.repeat(80)}`,
      id: `m${i}`,
    });
    const list = Array.from({ length: 1000 }, (_, i) => message(i));
    list.forEach((_, i) => write(prepare, i, list.slice(0, i + 1)));
    const { bytes } = prepare('SELECT sum(length(data)) AS bytes FROM blob_rows').get() as {
      bytes: number;
    };
    assert.ok(bytes < 1.1 * JSON.stringify(list).length, `${bytes} bytes`);
    for (const i of [0, 1, 31, 32, 33, 500, 999]) assert.equal(read(prepare, i), list.slice(0, i + 1));
  });
});

test('P3 every version of a replaced, shortened or grown value reads back as written', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ minLength: 300, maxLength: 400 }),
  );
  const value = fc.array(fc.record({ id: fc.nat(5), content: text }, { noNullPrototype: true }), {
    maxLength: 6,
  });
  const step = fc.tuple(fc.constantFrom('replace', 'append', 'edit-last', 'drop-last'), value);
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 50 }), (steps) => {
      withStore((prepare) => {
        let current: unknown[] = [];
        const versions = steps.map(([kind, given]) => {
          if (kind === 'replace') current = given;
          if (kind === 'append') current = [...current, ...given];
          if (kind === 'edit-last') current = [...current.slice(0, -1), ...given.slice(0, 1)];
          if (kind === 'drop-last') current = current.slice(0, -1);
          return current;
        });
        versions.forEach((version, i) => write(prepare, i, version));
        versions.forEach((version, i) => assert.equal(read(prepare, i), version));
      });
    }),
    { numRuns: 40 },
  );
});

test('values of two branches that count on from one old version read back as written', () => {
  withStore((prepare) => {
    const grown = (name: string, length: number) =>
      Array.from({ length }, (_, i) => `${name} ${i} ${'x'.repeat(90)}`);
    const main = grown('main', 60);
    main.forEach((_, i) => write(prepare, i, main.slice(0, i + 1)));
    const fork = [...main.slice(0, 10), ...grown('fork', 70)];
    const put = (index: number): void =>
      void writeChannel(
        prepare,
        createCheckpointKeys(prepare),
        place,
        {
          channel: 'messages',
          version: `${String(index).padStart(8, '0')}.f`,
          data: JSON.stringify(fork.slice(0, index + 1)),
        },
        1,
      );
    for (let i = 10; i < fork.length; i++) put(i);
    main.forEach((_, i) => assert.equal(read(prepare, i), main.slice(0, i + 1)));
    for (let i = 10; i < fork.length; i++) {
      const text = readChannel(prepare, place, 'messages', `${String(i).padStart(8, '0')}.f`);
      assert.equal(JSON.parse(text ?? 'null'), fork.slice(0, i + 1));
    }
  });
});

test('given a fork that counts on from before its base began, when it is read, then it is as written', () => {
  withStore((prepare) => {
    const text = (name: string) => [`${name} ${'x'.repeat(400)}`];
    write(prepare, 1, text('old'));
    write(prepare, 20, text('new'));
    write(prepare, 2, [...text('new'), 'forked']);
    assert.equal(read(prepare, 2), [...text('new'), 'forked']);
    write(prepare, 21, [...text('new'), 'more']);
    assert.equal(read(prepare, 21), [...text('new'), 'more']);
  });
});

test('given two texts that part within a surrogate pair, then neither half is stored alone', () => {
  withStore((prepare) => {
    const [before, after] = ['🙂', '🙃'].map((face) => [
      `${'long enough to be worth it '.repeat(20)}${face}`,
    ]);
    write(prepare, 1, before);
    write(prepare, 2, after);
    assert.equal(read(prepare, 2), after);
  });
});

test('given a version that is stored already, when it is written again, then the first value stays', () => {
  withStore((prepare) => {
    write(prepare, 1, ['first']);
    write(prepare, 1, ['second']);
    assert.equal(read(prepare, 1), ['first']);
  });
});

test('given a value whose base is gone, when it is read, then that is an error and not a shorter value', () => {
  withStore((prepare) => {
    const long = 'x'.repeat(500);
    write(prepare, 1, [long]);
    write(prepare, 2, [long, 'more']);
    prepare('DELETE FROM blob_rows WHERE version = ?').run(versionOf(1));
    assert.throws(() => read(prepare, 2), /leans on a value that is gone/);
  });
});

test.run();
