/** The forms in which a secret travels, each with that of its stand-in. */

export interface Pattern {
  readonly from: Buffer;
  /** As long as `from`. */
  readonly to: Buffer;
  /** Found only where no digit is beside it. */
  readonly isNumber?: boolean;
  /** Characters beside a base64 form, by their distance from its beginning: some of their bits are of the secret. */
  readonly edges?: readonly Edge[];
}

interface Edge {
  readonly distance: number;
  readonly mask: number;
  readonly from: number;
  readonly to: number;
}

export function textPatterns(secret: string, standIn: string): Pattern[] {
  const [from, to] = [formsOf(secret), formsOf(standIn)];
  const isNumber = /^\d+(?:\.\d+)?$/.test(secret);
  return from.flatMap((form, index) => {
    const pattern = { from: Buffer.from(form), to: Buffer.from(to[index]!) };
    return pattern.from.length === pattern.to.length ? [{ ...pattern, isNumber }] : [];
  });
}

/** Texts that no encoding changes. */
const PLAIN = /^[A-Za-z\d._-]*$/;

function formsOf(given: string): string[] {
  const text = given.toWellFormed();
  // Names of hosts are in lower case.
  if (PLAIN.test(text)) return [text, text.toLowerCase()];
  const json = quoted(text);
  const percent = encodeURIComponent(text);
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  return [
    // Parts of a form end their lines as the protocol does.
    ...[text, text.toLowerCase(), text.replace(/\r?\n/g, '\r\n')],
    ...[json, quoted(json), ascii(json), quoted(ascii(json)), json.replaceAll('/', '\\/')],
    ...[percent, lowerHex(percent), encodeURIComponent(percent), form, lowerHex(form), encodeURI(text)],
    ...[within('pathname', text), within('search', text)],
  ];
}

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);

const ascii = (text: string): string =>
  text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const lowerHex = (text: string): string => text.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());

/** The text as a part of a URL, as the URL's own parser writes it. */
function within(part: 'pathname' | 'search', text: string): string {
  const url = new URL('http://host');
  url[part] = part === 'pathname' ? `/${text}` : `?${text}`;
  return url[part].slice(1);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...`${ALPHABET}-_`].map((char, at) => [char.charCodeAt(0), at < 64 ? at : at - 2]));

/** Base64 has three forms of a text, by its position within the text around it, in two alphabets. */
export function base64Patterns(secret: string, standIn: string): Pattern[] {
  const [from, to] = [Buffer.from(secret.toWellFormed()), Buffer.from(standIn.toWellFormed())];
  if (from.length !== to.length) return [];
  return [0, 1, 2].flatMap((before) => {
    const whole = [from, to].map((bytes) =>
      Buffer.concat([Buffer.alloc(before), bytes, Buffer.alloc(3)]).toString('base64'),
    ) as [string, string];
    const [start, end] = [before * 8, (before + from.length) * 8];
    const [first, last] = [Math.ceil(start / 6), Math.floor(end / 6)];
    const edge = (index: number, mask: number): Edge => {
      const [from, to] = whole.map((text) => VALUES.get(text.charCodeAt(index))! & mask) as [number, number];
      return { distance: index - first, mask, from, to };
    };
    const edges = [
      ...(start % 6 === 0 ? [] : [edge(first - 1, lowBits(6 - (start % 6)))]),
      ...(end % 6 === 0 ? [] : [edge(last, 63 & ~lowBits(6 - (end % 6)))]),
    ];
    const [core, other] = whole.map((text) => text.slice(first, last)) as [string, string];
    const pattern = { from: Buffer.from(core), to: Buffer.from(other), edges };
    if (!/[+/]/.test(core + other)) return [pattern];
    return [
      pattern,
      { ...pattern, from: Buffer.from(toUrlAlphabet(core)), to: Buffer.from(toUrlAlphabet(other)) },
    ];
  });
}

const toUrlAlphabet = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');

const lowBits = (count: number): number => (1 << count) - 1;

/** True when the characters beside the form hold the secret's bits. */
export const hasEdges = ({ edges = [] }: Pattern, bytes: Uint8Array, at: number): boolean =>
  edges.every(({ distance, mask, from }) => {
    const value = VALUES.get(bytes[at + distance] ?? -1);
    return value !== undefined && (value & mask) === from;
  });

/** Writes the form and the bits of the stand-in beside it. */
export function writeForm({ to, edges = [] }: Pattern, bytes: Buffer, at: number): void {
  bytes.set(to, at);
  for (const { distance, mask, to: bits } of edges) {
    const byte = bytes[at + distance]!;
    const char = ALPHABET[(VALUES.get(byte)! & ~mask) | bits]!;
    bytes[at + distance] = (byte === 0x2d || byte === 0x5f ? toUrlAlphabet(char) : char).charCodeAt(0);
  }
}
