const A = '5b8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a01';
const B = '0a8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a02';

/** Pairs of values; neither may pass for the other under any name. */
export const CHANGES: readonly (readonly [unknown, unknown])[] = [
  ...([
    [1, 2],
    [1, 1.000001],
    [0, null],
    [1, '1'],
    [true, false],
    ['', null],
    ['a', 'b'],
    ['a', 'a '],
  ] as const),
  ...([
    [1_795_600_000_000, 1_795_600_000_001],
    [5, -5],
    [{}, []],
    [null, []],
    [
      [1, 2],
      [2, 1],
    ],
  ] as const),
  ...([
    [{ a: null }, {}],
    [{ a: 1 }, { b: 1 }],
    [[null], []],
    [[1], [1, 1]],
  ] as const),
  ...([
    ['2026-11-25T10:00:00Z', '2026-11-25T10:00:01Z'],
    ['2026-11-25', '2026-11-26'],
  ] as const),
  ...([
    [A, B],
    [`run-${A}`, `run-${B}`],
    [A, A.toUpperCase()],
    ['/?q=1', '/?q=2'],
  ] as const),
  ...([['0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdee']] as const),
];
