/** URLs that all lead to addresses inside, written in ways that parsers understand and checks overlook. */
import type { Random } from './random.ts';

type Bytes = readonly [number, number, number, number];

/** Of every forbidden range one address, with the bytes that are free left to chance. */
const RANGES: readonly ((any: () => number) => Bytes)[] = [
  (any) => [127, any(), any(), any()],
  (any) => [10, any(), any(), any()],
  (any) => [172, 16 + (any() & 15), any(), any()],
  (any) => [192, 168, any(), any()],
  (any) => [169, 254, any(), any()],
  (any) => [100, 64 + (any() & 63), any(), any()],
  (any) => [198, 18 + (any() & 1), any(), any()],
  (any) => [224 + (any() & 15), any(), any(), any()],
  (any) => [240 + (any() & 15), any(), any(), any()],
  (any) => [0, any(), any(), any()],
  (any) => [192, 0, 2, any()],
  () => [169, 254, 169, 254],
  () => [168, 63, 129, 16],
];

const LOCAL_V6 = ['::1', '::', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '100::1'];

/** One URL; the same random numbers give the same one. */
export function encodeForbidden(random: Random): string {
  const any = (): number => random.int(0, 255);
  const address = random.pick(RANGES)(any);
  const scheme = random.pick(['http', 'https', 'HTTP', 'hTtPs']);
  const host = random.chance(0.6) ? asV4(address, random) : `[${dress(asV6(address, random), random)}]`;
  const port = random.pick(['', '', ':80', ':443', ':8080', ':00080', ':']);
  return `${scheme}://${host}${port}/${random.pick(['', 'hook', '?a=1', '#x', 'a/../b'])}`;
}

function number(value: number, random: Random): string {
  switch (random.int(0, 4)) {
    case 0:
      return `0x${value.toString(16)}`;
    case 1:
      return `0X${'0'.repeat(random.int(0, 4))}${value.toString(16).toUpperCase()}`;
    case 2:
      return `0${'0'.repeat(random.int(0, 3))}${value.toString(8)}`;
    default:
      return String(value);
  }
}

/** In one to four parts, each in a base of its own, in letters and dots of many scripts. */
function asV4([a, b, c, d]: Bytes, random: Random): string {
  const parts = [
    [a, b, c, d],
    [a, b, c * 256 + d],
    [a, (b * 256 + c) * 256 + d],
    [((a * 256 + b) * 256 + c) * 256 + d],
  ];
  const plain = random.pick(parts).map((part) => number(part, random));
  const dot = random.pick(['.', '.', '。', '．', '｡', '%2e', '%2E']);
  return disguise(plain.join(dot), random) + (random.chance(0.15) ? '.' : '');
}

function disguise(text: string, random: Random): string {
  const way = random.int(0, 5);
  if (way > 2) return text;
  return text.replace(/%..|\d/g, (found) => {
    if (found.length > 1 || random.chance(0.4)) return found;
    const digit = Number(found);
    if (way === 0) return String.fromCodePoint(0xff10 + digit);
    if (way === 1) return digit === 0 ? '⓪' : String.fromCodePoint(0x2460 + digit - 1);
    return `%3${digit}`;
  });
}

const hex = (high: number, low: number): string => (high * 256 + low).toString(16);

/** Forms of IPv6 that carry an address of IPv4, and some that need none. */
function asV6([a, b, c, d]: Bytes, random: Random): string {
  const groups = `${hex(a, b)}:${hex(c, d)}`;
  const dotted = `${a}.${b}.${c}.${d}`;
  const tail = random.chance(0.5) ? groups : dotted;
  return random.pick([
    `::ffff:${tail}`,
    `0:0:0:0:0:ffff:${tail}`,
    `0000::ffff:${tail}`,
    `::${tail}`,
    `::ffff:0:${tail}`,
    `64:ff9b::${tail}`,
    `64:ff9b:1::${tail}`,
    `2002:${groups}::1`,
    `2002:${groups}:0:0:0:0:1`,
    `2001:0:${groups}::`,
    ...LOCAL_V6,
  ]);
}

const dress = (text: string, random: Random): string => (random.chance(0.3) ? text.toUpperCase() : text);
