/** Building blocks of request schemas. Every optional member accepts `null`, which clients send for "not given". */
import { z } from 'zod';
import { findFilterProblem, type PlainRule } from '../kernel/filter-syntax.ts';
import { isUuid } from '../kernel/ids.ts';
import { findTextProblem, isObject, type Json, type JsonObject } from '../kernel/json.ts';

export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A member that has a value when the client gives none. No list: all requests would share and could change it. */
export const withDefault = <T extends z.ZodType>(
  schema: T,
  value: z.output<T> & (string | number | boolean),
) =>
  schema
    .nullish()
    .transform((given): z.output<T> => given ?? value)
    .meta({ default: value });

export const json = z.custom<Json>((value) => value !== undefined, 'expected a JSON value');
export const jsonObject = z
  .custom<JsonObject>((value) => isObject(value), 'expected an object')
  .meta({ type: 'object', additionalProperties: true });
/** A filter of a search; the message of a 422 names the place. */
export const filter = (plain: PlainRule) =>
  jsonObject.superRefine((value, context) => {
    const error = findFilterProblem(value, plain);
    if (error !== undefined) context.addIssue({ code: 'custom', message: error.problem, path: [error.path] });
  });
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
 * A list of at most `max` items. Without a bound, validating a long list of invalid items would create millions of
 * issues.
 */
export const list = <T extends z.ZodType>(item: T, max: number, message: string) =>
  z.array(item, message).max(max, `${message}, at most ${max}`);

/** A list of members to select; the error message names all members and what was sent in their place. */
export const selectOf = (fields: readonly [string, ...string[]]) =>
  list(
    z.enum(fields, { error: foundInstead(expectedOneOf(fields)) }),
    100,
    `expected a list of ${fields.join(', ')}`,
  );

/** An error message that quotes the first 80 characters of what was sent. */
export const foundInstead =
  (expected: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    `${expected}, found ${JSON.stringify(input).slice(0, 80)}`;

/** A page size without an upper limit. */
export const openLimit = (byDefault: number) =>
  withDefault(
    z.int('expected an integer of 1 or more').min(1, 'expected an integer of 1 or more'),
    byDefault,
  );

/** A page size of at most `max`. */
export const limit = (byDefault: number, max = 1000) => {
  const message = `expected an integer from 1 to ${max}`;
  return withDefault(z.int(message).min(1, message).max(max, message), byDefault);
};

export const offset = withDefault(
  z.int('expected an integer of 0 or more').min(0, 'expected an integer of 0 or more'),
  0,
);

export const sortOrder = withDefault(z.enum(['asc', 'desc'], 'expected "asc" or "desc"'), 'desc');

const expectedOneOf = (values: readonly string[]): string =>
  `expected one of ${values.map((value) => `"${value}"`).join(', ')}`;

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, expectedOneOf(values));

/** Target of `goto`: a node's name, or a node with its input. */
const target = z.union(
  [name, z.object({ node: name, input: json.nullish() }, 'expected an object with node')],
  'expected the name of a node, or an object with node and input',
);

/**
 * A command needs at least one member; an empty one would make the run fail. Clients send a `resume` of null and an empty
 * `goto` for "not given" too: null is an answer if the command has nothing else.
 */
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
      resume: json.nullish(),
    },
    'expected an object with goto, update or resume',
  )
  .transform(({ goto, update, resume }) => {
    if (resume === undefined) return { goto, update, resume };
    const targets = Array.isArray(goto) && goto.length === 0 ? undefined : goto;
    const isAbsent = resume === null && (targets !== undefined || update !== undefined);
    return { goto: targets, update, resume: isAbsent ? undefined : resume };
  })
  .refine(
    ({ goto, update, resume }) => [goto, update, resume].some((member) => member !== undefined),
    'expected at least one of goto, update and resume',
  );

const TIME = 'expected a time such as "2026-11-20T23:49:50+00:00"';
const ISO = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Parses an ISO 8601 time to milliseconds since 1970; a time without an offset is UTC. */
export const time = z
  .string(TIME)
  .transform((text, context) => {
    const at = parseTime(text);
    if (!Number.isNaN(at)) return at;
    context.addIssue({ code: 'custom', message: TIME });
    return z.NEVER;
  })
  .meta({ type: 'string', format: 'date-time' });

/** Milliseconds since 1970, NaN for an invalid time. */
function parseTime(text: string): number {
  if (!ISO.test(text)) return NaN;
  const day = text.slice(0, 10);
  const midnight = Date.parse(day);
  // `Date.parse` accepts days that do not exist and turns 30 February into 2 March.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return NaN;
  const hasOffset = /(Z|[+-]\d\d:?\d\d)$/i.test(text.slice(10));
  return Date.parse(hasOffset || text.length === 10 ? text : `${text}Z`);
}
