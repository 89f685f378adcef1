/**
 * Stand-ins of secrets: texts of the same length and kind, which recordings hold and re-executed code gets in their
 * place. They follow from a label and the shape of the secret, never from its characters: a short number would be found by
 * trying all of them.
 */
import { isObject, type Json } from '../kernel/json.ts';
import { isOrdinary } from './ordinary-words.ts';
import { seededRandom } from './random.ts';

/** Shorter texts are no secrets: masking them would change unrelated text. In characters. */
const MIN_SECRET_CHARACTERS = 8;
const MIN_SECRET_DIGITS = 6;
const MIN_TOLD_CHARACTERS = 6;

/** Scheme, host and port of an address. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#@]*(?![^/?#]*@)/i;
const USER_INFO = /^([a-z][a-z\d+.-]*:\/\/)([^/?#@]*)@([^]*)$/i;

const originOf = (text: string): string => ORIGIN.exec(text)?.[0] ?? '';

const isSecretText = (text: string): boolean =>
  text.length >= MIN_SECRET_CHARACTERS &&
  /[\p{L}\p{N}]/u.test(text.slice(originOf(text).length)) &&
  !isOrdinary(text);

const isSecretNumber = (value: number): boolean =>
  Number.isFinite(value) && digitsOf(value).length >= MIN_SECRET_DIGITS;

const digitsOf = (value: number): string => String(Math.abs(value)).replace(/e.*$/, '').replace(/\D/g, '');

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const LOWER_HEX = 'abcdef';
const DIGITS = '0123456789';

/** A text of the same length in characters and bytes, with letters for letters and digits for digits. */
export function shapeOf(label: string, text: string, letters = LOWER): string {
  const random = seededRandom(`stand-in ${label}`);
  const pick = (from: string): string => from[Math.floor(random.float() * from.length)]!;
  return text.replace(/./gsu, (character, at: number) => {
    // A number that begins with 0 is no JSON.
    if (/\d/.test(character)) return pick(at === 0 ? '123456789' : DIGITS);
    if (/[a-z]/.test(character)) return pick(letters);
    if (/[A-Z]/.test(character)) return pick(letters).toUpperCase();
    const bytes = Buffer.byteLength(character);
    if (bytes === 1) return character;
    if (bytes === 2) return pick('àáâãäåæçèéêëìíîïñòóôõöøùúûü');
    return String.fromCodePoint((bytes === 3 ? 0x4e00 : 0x20000) + Math.floor(random.float() * 4_096));
  });
}

/** A stand-in that is not the text itself. Hexadecimal texts, and the origins of addresses, remain what they are. */
export function standInFor(label: string, text: string): string {
  const letters = /^[\da-f-]+$/i.test(text) ? LOWER_HEX : LOWER;
  const origin = originOf(text);
  const rest = text.slice(origin.length);
  const shape = (attempt: number): string => origin + shapeOf(`${label} ${attempt}`, rest, letters);
  const made = shape(0);
  return made === text ? shape(1) : made;
}

/** Numbers print as they are written up to so many digits. */
const EXACT_DIGITS = /^(0\.0*)?((?:\d\.?){1,15})/;
const MAX_DRAWS = 200;

/** Digits for digits. A number that is rounded when it is parsed is drawn again, and is no secret if all are. */
function standInForNumber(label: string, value: number): number {
  const text = String(Math.abs(value));
  const [all, zeros = '', digits] = EXACT_DIGITS.exec(text) as unknown as [
    string,
    string | undefined,
    string,
  ];
  for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
    const made = zeros + shapeOf(`${label} ${attempt}`, digits) + text.slice(all.length);
    if (made !== text && String(Number(made)) === made) return Math.sign(value) * Number(made);
  }
  return value;
}

/** Names of members, by which code looks them up, are no secrets: letters alone, in snake or camel case. */
const MEMBER_NAME = /^[A-Za-z_]+$/;

export interface StandIns {
  /** Each secret with its stand-in. */
  readonly pairs: ReadonlyMap<string, string>;
  /** The text with stand-ins in place of its secrets; the scheme of an `authorization` header stays. */
  text(text: string, label: string): string;
  /** Texts, numbers and keys of maps, at any depth. */
  value(value: Json, label: string): Json;
  /** A stand-in for a text of any length. Short ones, and words, are not looked for elsewhere. */
  always(text: string, label: string): string;
  /** All stand-ins that are long enough to be told from other text. */
  all(): readonly string[];
}

export function openStandIns(earlier?: StandIns['pairs']): StandIns {
  const pairs = new Map(earlier);
  const others = new Set<string>();

  function secret(text: string, label: string): string {
    const known = pairs.get(text);
    if (known !== undefined) return known;
    const [, scheme = '', user = '', rest = ''] = USER_INFO.exec(text) ?? [];
    const parts = user.split(':').map((part, at) => masked(part, `${label} user ${at}`));
    const made =
      user === ''
        ? standInFor(label, text)
        : `${scheme}${parts.join(':')}@${standInFor(label, scheme + rest).slice(scheme.length)}`;
    pairs.set(text, made);
    return made;
  }

  const masked = (part: string, label: string): string => (isSecretText(part) ? secret(part, label) : part);

  const text: StandIns['text'] = (whole, label) => {
    const [, scheme = '', rest = ''] = /^((?:bearer|basic|token|apikey) +)?([^]*)$/i.exec(whole)!;
    return scheme + masked(rest, label);
  };

  function number(value: number, label: string): number {
    if (!isSecretNumber(value)) return value;
    const digits = String(Math.abs(value));
    const known = pairs.get(digits);
    if (known !== undefined) return Math.sign(value) * Number(known);
    const made = standInForNumber(label, value);
    pairs.set(digits, String(Math.abs(made)));
    return made;
  }

  return {
    pairs,
    text,
    always(whole, label) {
      if (isSecretText(whole)) return text(whole, label);
      const made = standInFor(label, whole);
      if (made.length >= MIN_TOLD_CHARACTERS) others.add(made);
      return made;
    },
    all: () => [...pairs.values(), ...others],
    value(value, label) {
      let count = 0;
      const mask = (each: Json): Json => {
        // Labels count: the keys on the way may be secrets themselves.
        const place = `${label} ${(count += 1)}`;
        if (typeof each === 'string') return text(each, place);
        if (typeof each === 'number') return number(each, place);
        if (Array.isArray(each)) return each.map(mask);
        if (!isObject(each)) return each;
        return Object.fromEntries(
          Object.entries(each).map(([name, member]) => [
            MEMBER_NAME.test(name) ? name : text(name, `${place} key ${(count += 1)}`),
            mask(member ?? null),
          ]),
        );
      };
      return mask(value);
    },
  };
}
