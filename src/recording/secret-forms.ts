/** The forms in which a secret travels, each with that of its stand-in. */

export interface Pattern {
  readonly from: Buffer;
  /** As long as `from`. */
  readonly to: Buffer;
  /** Found only where no digit is beside it. */
  readonly isNumber?: boolean;
  /** Corrects the characters beside a base64 form, which hold bits of the secret too. */
  readonly edges?: (bytes: Buffer, at: number) => void;
  /** Bytes beside the form on either side that may hold bits of the secret. */
  readonly reach?: number;
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
    ...[text, text.toLowerCase()],
    ...[json, quoted(json), ascii(json), quoted(ascii(json)), json.replaceAll('/', '\\/')],
    ...[percent, lowerHex(percent), form, lowerHex(form), encodeURI(text)],
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
    /** The bits of the stand-in in the character beside the form. */
    const edge = (index: number, mask: number) => ({
      mask,
      bits: VALUES.get(whole[1].charCodeAt(index))! & mask,
    });
    const lead = start % 6 === 0 ? undefined : edge(first - 1, (1 << (6 - (start % 6))) - 1);
    const trail = end % 6 === 0 ? undefined : edge(last, 63 & ~((1 << (6 - (end % 6))) - 1));
    const edges: Pattern['edges'] = (bytes, at) => {
      if (lead !== undefined) setBits(bytes, at - 1, lead);
      if (trail !== undefined) setBits(bytes, at + last - first, trail);
    };
    return [(text: string) => text, toUrlAlphabet].map((alphabet) => {
      const [core, other] = whole.map((text) => Buffer.from(alphabet(text.slice(first, last))));
      return { from: core!, to: other!, edges, reach: 1 };
    });
  });
}

const toUrlAlphabet = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');

function setBits(bytes: Buffer, at: number, { mask, bits }: { mask: number; bits: number }): void {
  const byte = bytes[at];
  const value = byte === undefined ? undefined : VALUES.get(byte);
  if (value === undefined) return;
  const isUrl = byte === 0x2d || byte === 0x5f;
  const char = ALPHABET[(value & ~mask) | bits]!;
  bytes[at] = (isUrl ? toUrlAlphabet(char) : char).charCodeAt(0);
}
