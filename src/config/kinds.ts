/** Kinds of values: each checks a value, and reads it from the text of a variable or option. */
import { z } from 'zod';
import { detailsOf, withDetails, withForm } from './setting.ts';

export const OBJECT = 'expected an object';
const UNLIMITED = Number.MAX_SAFE_INTEGER;
const toNumber = (given: string): unknown => (/^\d+(\.\d+)?$/.test(given) ? Number(given) : given);
const limited = (of: (error: string) => z.ZodNumber, what: string, min: number, max: number): z.ZodNumber => {
  const error = `expected ${what} of at least ${min}${max === UNLIMITED ? '' : ` and at most ${max}`}`;
  return withDetails(of(error).min(min, error).max(max, error), { fromText: toNumber });
};
export const whole = (min = 0, max = UNLIMITED) => limited(z.int, 'a whole number', min, max);
export const amount = (min = 0, max = UNLIMITED) => limited(z.number, 'a number', min, max);

export function positive(units: string, max: number) {
  const error = `expected ${units} above 0 and at most ${max}`;
  return withDetails(z.number(error).positive(error).max(max, error), { fromText: toNumber });
}

export const toMs = (seconds: number): number => 1_000 * seconds;

function toFlag(given: string): unknown {
  if (['1', 'true', 'yes'].includes(given.toLowerCase())) return true;
  return ['', '0', 'false', 'no'].includes(given.toLowerCase()) ? false : given;
}
export const flag = () => withDetails(z.boolean('expected true or false'), { fromText: toFlag });
export const off = () => flag().default(false);

export function choice<const V extends readonly string[]>(...values: V) {
  const names = values.map((value) => `"${value}"`);
  return z.enum(values, `expected ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);
}

export const text = (form = 'text') => withDetails(z.string(`expected a ${form}`), { form });

export const split = (given: string): string[] => given.split(',').map((part) => part.trim());

/** A variable without members counts as not set. */
export function list<I extends z.ZodType>(item: I, what: string, min = 0, max?: number) {
  const error = `expected a list of ${what}`;
  const all = z.array(item, error);
  const atLeast = min === 0 ? all : all.min(min, `${error}, at least ${min}`);
  const limited = max === undefined ? atLeast : atLeast.max(max, `${error}, at most ${max}`);
  const { fromText: fromPart = (part: string): unknown => part } = detailsOf(item);
  return withDetails(limited.readonly(), {
    fromText(given) {
      const parts = split(given).filter((part) => part !== '');
      return parts.length === 0 ? undefined : parts.map((part) => fromPart(part));
    },
  });
}

const HEADER = 'expected the name of a header';
export const headerName = () =>
  withForm(z.string(HEADER).regex(/^[\w!#$%&'*+.^`|~-]+$/, HEADER), 'header names');
