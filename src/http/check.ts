/** Validates what clients send. */
import type { z } from 'zod';
import { isUuid } from '../kernel/ids.ts';
import { invalid } from './replies.ts';

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
