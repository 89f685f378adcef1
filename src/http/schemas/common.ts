/** Building blocks of request schemas. Every optional member accepts `null`, which clients send for "not given". */
import { z } from 'zod';
import { isUuid } from '../../kernel/ids.ts';
import { findTextProblem, isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { invalid } from '../replies.ts';

export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

export const json = z.custom<Json>((value) => value !== undefined, 'expected a JSON value');
export const jsonObject = z
  .custom<JsonObject>((value) => isObject(value), 'expected an object')
  .meta({ type: 'object' });
/** Metadata keys that only the server writes. */
const SERVER_KEYS = ['assistant_id', 'run_id', 'thread_id', 'cron_id'];

/** Metadata that a client writes; `SERVER_KEYS` are dropped. */
export const ownMetadata = jsonObject.transform((given): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([key]) => !SERVER_KEYS.includes(key))),
);
export const uuid = z
  .string('expected a UUID')
  .refine(isUuid, 'expected a UUID')
  .toLowerCase()
  .meta({ format: 'uuid' });

/** Text that is used as an id or a key. */
export const name = z
  .string('expected a string')
  .min(1, 'expected at least 1 character')
  .max(512, 'expected at most 512 characters')
  .superRefine((text, context) => {
    const problem = findTextProblem(text);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `expected plain text, found ${problem}` });
  });

/**
 * A list of at most `most` items. Without a bound, validating a long list of invalid items would create millions of
 * issues.
 */
export const list = <T extends z.ZodType>(item: T, most: number, message: string) =>
  z.array(item, message).max(most, `${message}, at most ${most}`);

/** A list of members to select; the error message names all members. */
export const selectOf = (fields: readonly [string, ...string[]]) =>
  list(oneOf(fields), 100, `expected a list of ${fields.join(', ')}`);

/** A page size without an upper limit. */
export const openLimit = (byDefault: number) =>
  z
    .int('expected an integer of 1 or more')
    .min(1, 'expected an integer of 1 or more')
    .nullish()
    .transform((value) => value ?? byDefault);

export const limit = (byDefault: number) =>
  z
    .int('expected an integer from 1 to 1000')
    .min(1, 'expected an integer from 1 to 1000')
    .max(1000, 'expected an integer from 1 to 1000')
    .nullish()
    .transform((value) => value ?? byDefault);

export const offset = z
  .int('expected an integer of 0 or more')
  .min(0, 'expected an integer of 0 or more')
  .nullish()
  .transform((value) => value ?? 0);

export const sortOrder = z
  .enum(['asc', 'desc'], 'expected "asc" or "desc"')
  .nullish()
  .transform((value) => value ?? 'desc');

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `expected one of ${values.map((value) => `"${value}"`).join(', ')}`);

/** Target of `goto`: a node's name, or a node with its input. */
const target = z.union(
  [name, z.object({ node: name, input: json.nullish() }, 'expected an object with node')],
  'expected the name of a node, or an object with node and input',
);

/** A command needs at least one member that is not null; an empty one would make the run fail. */
export const command = z
  .object(
    {
      goto: optional(
        z.union(
          [target, list(target, 1000, 'expected a list of targets')],
          'expected a node, an object with node and input, or a list of these',
        ),
      ),
      update: optional(
        z.union(
          [jsonObject, list(z.tuple([name, json]), 1000, 'expected a list of pairs')],
          'expected an object or a list of [key, value] pairs',
        ),
      ),
      resume: optional(json),
    },
    'expected an object with goto, update or resume',
  )
  .refine(
    ({ goto, update, resume }) => [goto, update, resume].some((member) => member !== undefined),
    'expected at least one of goto, update and resume',
  );

/** Validates a client's value. Throws a 422 that names up to 10 invalid fields and the expected values. */
export function check<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => {
    const field = path.map(String).join('.');
    return `${field === '' ? 'body' : field}: ${message}`;
  });
  throw invalid([...new Set(problems)].slice(0, 10).join('; '));
}

/** A UUID of the path, in lower case. Throws a 422 when it is malformed. */
export function pathUuid(text: string | undefined, field: string): string {
  if (text === undefined || !isUuid(text)) throw invalid(`${field}: expected a UUID`);
  return text.toLowerCase();
}

/** Keeps only the selected members; all of them without a selection. */
export function pick<V>(
  record: Readonly<Record<string, V>>,
  select: readonly string[] | undefined,
): Record<string, V> {
  if (select === undefined || select.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([key]) => select.includes(key)));
}
