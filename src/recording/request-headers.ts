/** Headers of requests by undici, in all of their forms. */
import { IDEMPOTENCY_KEY } from './call-keys.ts';
import type { Exchange } from './session.ts';

/** Headers are a list of alternating names and values, an object, or an iterable of pairs. */
function pairsIn(headers: unknown): [unknown, unknown][] {
  const pairs: [unknown, unknown][] = [];
  if (Array.isArray(headers) && !Array.isArray(headers[0]))
    for (let at = 0; at + 1 < headers.length; at += 2) pairs.push([headers[at], headers[at + 1]]);
  else if (typeof headers === 'object' && headers !== null)
    pairs.push(
      ...((Symbol.iterator in headers
        ? [...(headers as Iterable<[unknown, unknown]>)]
        : Object.entries(headers)) as [unknown, unknown][]),
    );
  return pairs;
}

export function headerOf(headers: unknown, name: string): string | undefined {
  const found = pairsIn(headers).find(([key]) => String(key).toLowerCase() === name);
  return found && String(found[1]);
}

/** Adds the exchange's idempotency key unless there is one. */
export function withKey<T extends { readonly headers?: unknown }>(
  options: T,
  { idempotencyKey }: Exchange,
): T {
  if (idempotencyKey === undefined || headerOf(options.headers, IDEMPOTENCY_KEY) !== undefined)
    return options;
  return { ...options, headers: [...pairsIn(options.headers), [IDEMPOTENCY_KEY, idempotencyKey]].flat() };
}
