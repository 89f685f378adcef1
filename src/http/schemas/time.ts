import { z } from 'zod';

const TIME = 'expected a time such as "2026-11-20T23:49:50+00:00"';
const ISO = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Parses an ISO 8601 time to milliseconds since 1970; a time without an offset is UTC. */
export const time = z.string(TIME).transform((text, context) => {
  const at = parseTime(text);
  if (!Number.isNaN(at)) return at;
  context.addIssue({ code: 'custom', message: TIME });
  return z.NEVER;
});

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
