/** Exported threads as a stranger may make them: any record and any byte can lie, and most digests are right. */
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Random } from './random.ts';

export interface RawRecord {
  readonly head: Record<string, unknown>;
  readonly body?: Uint8Array;
}

const LAST_LINE_BYTES = 73;
const FIRST_LINE = 'rewound-export 1\n';

/** The records of a file that is right. */
export function toRecords(file: Uint8Array): RawRecord[] {
  const plain = zstdDecompressSync(file.subarray(FIRST_LINE.length, file.length - LAST_LINE_BYTES));
  const records: RawRecord[] = [];
  for (let at = 0; at < plain.length;) {
    const end = plain.indexOf('\n', at);
    const head = JSON.parse(plain.toString('utf8', at, end)) as RawRecord['head'];
    at = end + 1;
    if (head['bytes'] === undefined) records.push({ head });
    else {
      const { bytes, ...rest } = head;
      records.push({ head: rest, body: plain.subarray(at, at + Number(bytes)) });
      at += Number(bytes) + 1;
    }
  }
  return records;
}

/** `bytes` in a head wins over the body's real length. */
export const toContent = (records: readonly RawRecord[]): Buffer =>
  Buffer.concat(
    records.flatMap(({ head, body }) => [
      Buffer.from(`${toText(body === undefined ? head : { bytes: body.length, ...head })}\n`),
      ...(body === undefined ? [] : [body, Buffer.from('\n')]),
    ]),
  );

/** Stands for JSON that is too deep to be made from a value, or takes long. */
const MARKS = /"(nested|members) (\d+)"/g;
const toText = (value: unknown): string =>
  JSON.stringify(value).replace(MARKS, (_, kind: string, count: string) =>
    kind === 'nested' ? nested(Number(count)) : MANY_MEMBERS,
  );
const MANY_MEMBERS = `{${Array.from({ length: 70_000 }, (_, at) => `"k${at}":""`).join(',')}}`;

export const toFile = (packed: Uint8Array, firstLine = FIRST_LINE): Buffer => {
  const bytes = Buffer.concat([Buffer.from(firstLine), packed]);
  const digest = createHash('sha256').update(bytes).digest('hex');
  return Buffer.concat([bytes, Buffer.from(`\nsha256 ${digest}\n`)]);
};

/** The records with as many at the end as there are. */
export function counted<R extends { readonly head: RawRecord['head'] }>(records: readonly R[]) {
  const counts: Record<string, number> = {};
  const rest = records.filter(({ head }) => head['kind'] !== 'end');
  for (const { head } of rest) {
    const kind = JSON.stringify(head['kind'] ?? null).replaceAll('"', '');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return [...rest, { head: { kind: 'end', counts } }];
}

const OTHER = '01980000-0000-7000-8000-00000000beef';
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const JUNK: readonly unknown[] = [
  ...[null, true, -1, 0, 1.5, 1e308, 2 ** 53, '', 'x', 'a\ndata: b', '\u0000', '\ud800', '__proto__', OTHER],
  ...[[], {}, [[]], [null], { toString: 1 }, { length: 1e9 }, 'x'.repeat(70_000), { $: 'map', v: 5 }],
  ...['nested 700', 'nested 5000'],
];
const BODIES: readonly ((random: Random) => string)[] = [
  () => '',
  () => '{',
  () => 'nul',
  () => '"\\u00"',
  () => '1'.repeat(9_000),
  () => nested(900),
  () => nested(200_000),
  () => `[${'[],'.repeat(1_100_000)}0]`,
  () => MANY_MEMBERS,
  () => JSON.stringify('x'.repeat(2_000_000)),
  (random) =>
    toText({
      $: random.pick(['map', 'set', 'bigint', 'regexp', 'message', 'date', 'error', '?']),
      v: random.pick(JUNK.slice(0, 20)),
    }),
  (random) => toText(random.pick(JUNK.slice(0, 20))),
  (random) => toText({ messages: random.pick(JUNK.slice(0, 20)), kind: 'function', turn: 5 }),
];

/** Changes the record at an index; returns what stands there afterwards. */
type Change = (random: Random, record: RawRecord, all: readonly RawRecord[]) => readonly RawRecord[];

const withMember = ({ head, body }: RawRecord, key: string, value: unknown): RawRecord => ({
  head: { ...head, [key]: value },
  ...(body && { body }),
});

/** Replaces one member anywhere in the value. */
function scribbled(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return random.pick(JUNK);
  const keys = Object.keys(value);
  if (keys.length === 0) return random.pick(JUNK);
  const key = random.pick(keys);
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  if (random.chance(0.2)) delete copy[key];
  else copy[key] = scribbled(random, copy[key]);
  return copy;
}

const CHANGES: Readonly<Record<string, Change>> = {
  'a body with flipped bits': (random, { head, body }) => {
    if (body === undefined || body.length === 0) return [{ head }];
    const flipped = Uint8Array.from(body);
    flipped[random.int(0, body.length - 1)]! ^= 1 << random.int(0, 7);
    return [{ head, body: flipped }];
  },
  'a body that is cut': (random, { head, body = new Uint8Array() }) => [
    { head, body: body.subarray(0, random.int(0, body.length)) },
  ],
  'a wrong length': (random, record) => [
    withMember(
      record,
      'bytes',
      random.pick<unknown>([0, 1, 7, -1, 1.5, 2 ** 26, 2 ** 27, 1e15, '5', { toString: 1 }]),
    ),
  ],
  'no record': () => [],
  'a record twice': (_, record) => [record, record],
  'another record': (random, _, all) => [random.pick(all)],
  'another kind': (random, record) => [
    withMember(
      record,
      'kind',
      random.pick<unknown>(['secret', 'end', 'header', 'event', 'frame', { toString: 1 }, null]),
    ),
  ],
  'another thread or run': (random, record) => [
    withMember(
      record,
      random.pick(['thread', 'run', 'stream']),
      random.pick<unknown>([OTHER, `thread-${OTHER}`, 5]),
    ),
  ],
  'junk in a head': (random, { head, body }) =>
    [{ head: scribbled(random, head) as RawRecord['head'], ...(body && { body }) }].filter(
      ({ head: found }) => typeof found === 'object' && found !== null,
    ),
  'junk in a body': (random, { head, body }) => {
    if (head['encoding'] !== 'json' || head['splice'] !== undefined || body === undefined)
      return [{ head, ...(body && { body }) }];
    try {
      const value: unknown = JSON.parse(Buffer.from(body).toString());
      return [{ head, body: Buffer.from(toText(scribbled(random, value))) }];
    } catch {
      // Another change came first.
      return [{ head, body }];
    }
  },
  'another body': (random, { head, body }) => [
    { head, ...(body && { body: Buffer.from(random.pick(BODIES)(random)) }) },
  ],
  'a huge head': (random, record) => [
    withMember(record, 'pad', 'x'.repeat(random.pick([1_000_000, 1_100_000, 3_000_000]))),
  ],
  'a deep head': (random, record) => [
    withMember(record, 'metadata', `nested ${random.pick([700, 900, 400_000])}`),
  ],
  'a head of many members': (_, record) => [withMember(record, 'versions', 'members 70000')],
  'a text of another one': (random, record, all) => {
    const at = all.indexOf(record);
    return [
      withMember(record, 'splice', {
        ...{ of: random.pick([0, at - 1, at, at + 1, 1e9]), head: random.int(0, 5), start: random.int(0, 5) },
        kept: random.pick([0, 1, 100, 2 ** 31]),
      }),
    ];
  },
  'texts that double': (random, record) => {
    const [text, times] = ['"' + 'x'.repeat(100_000), random.int(5, 15)];
    return Array.from({ length: times }, (_, at) => ({
      head: {
        ...{
          ...record.head,
          kind: 'value',
          run: 'x',
          ns: '',
          channel: 'c',
          version: String(at),
          encoding: 'json',
        },
        ...(at > 0 && { splice: { of: at, head: 0, start: 0, kept: 100_000 * at } }),
      },
      body: Buffer.from(text),
    }));
  },
  'a recording': (random, record) => [
    {
      head: {
        kind: 'recording',
        thread: record.head['thread'],
        run: record.head['run'] ?? OTHER,
        encoding: 'bytes',
      },
      body: random.pick([zstdCompressSync(Buffer.alloc(9_000_000)), Buffer.alloc(100), new Uint8Array()]),
    },
    record,
  ],
};

/** How the records become a file. */
const FILES: Readonly<Record<string, (random: Random, content: Buffer) => Buffer>> = {
  'a right digest': (_, content) => toFile(zstdCompressSync(content)),
  'flipped bits': (random, content) => {
    const file = toFile(zstdCompressSync(content));
    file[random.int(0, file.length - 1)]! ^= 1 << random.int(0, 7);
    return file;
  },
  'flipped bits under a right digest': (random, content) => {
    const packed = zstdCompressSync(content);
    packed[random.int(0, packed.length - 1)]! ^= 1 << random.int(0, 7);
    return toFile(packed);
  },
  'a cut': (random, content) => {
    const file = toFile(zstdCompressSync(content));
    return file.subarray(0, random.int(0, file.length));
  },
  'a cut under a right digest': (random, content) => {
    const packed = zstdCompressSync(content);
    return toFile(packed.subarray(0, random.int(0, packed.length)));
  },
  'two frames': (random, content) => {
    const at = random.int(0, content.length);
    return toFile(
      Buffer.concat([content.subarray(0, at), content.subarray(at)].map((part) => zstdCompressSync(part))),
    );
  },
  'the frame twice': (_, content) =>
    toFile(Buffer.concat([zstdCompressSync(content), zstdCompressSync(content)])),
  'bytes behind the end': (random, content) =>
    toFile(Buffer.concat([zstdCompressSync(content), random.bytes(random.int(1, 300))])),
  'a large window': (_, content) =>
    toFile(
      zstdCompressSync(content, {
        params: { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 },
      }),
    ),
  'a later format': (random, content) =>
    toFile(
      zstdCompressSync(content),
      random.pick(['rewound-export 2\n', 'rewound-export 99\n', 'rewound-export 0\n']),
    ),
  'much behind the records': (_, content) =>
    toFile(zstdCompressSync(Buffer.concat([content, Buffer.alloc(10_000_000)]))),
  'no frame at all': (random) => toFile(random.bytes(random.int(0, 2_000))),
};

export interface HostileFile {
  readonly bytes: Buffer;
  /** In words. */
  readonly what: string;
}

/** `records`: those of a file that is right. */
export function hostileFile(random: Random, records: readonly RawRecord[]): HostileFile {
  const done: string[] = [];
  let changed = [...records];
  for (let count = random.int(0, 3); count > 0; count--) {
    const at = random.int(0, changed.length - 1);
    const name = random.pick(Object.keys(CHANGES));
    const kind = JSON.stringify(changed[at]!.head['kind']);
    changed.splice(at, 1, ...CHANGES[name]!(random, changed[at]!, changed));
    done.push(`${name} at ${at} (${kind})`);
    if (changed.length === 0) break;
  }
  if (random.chance(0.1)) changed = random.shuffle(changed);
  if (random.chance(0.8)) changed = counted(changed);
  const form = random.chance(0.7) ? 'a right digest' : random.pick(Object.keys(FILES));
  done.push(form);
  return { bytes: FILES[form]!(random, toContent(changed)), what: done.join(', ') };
}
