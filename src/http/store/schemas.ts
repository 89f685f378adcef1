import { z } from 'zod';
import { findNamespaceProblem, MAX_LABELS } from '../../item/namespace.ts';
import { invalid, noNamespace, reservedRoot } from '../replies.ts';
import { filter, jsonObject, limit, list, name, offset, openLimit, optional } from '../fields.ts';

const labels = list(z.string('expected a string'), MAX_LABELS, 'expected a list of labels');

/** Maximum time to live, 100 years: a longer time is probably in another unit. */
const MAX_TTL_MINUTES = 52_560_000;
const ttl = z
  .number('expected minutes, or null for ever')
  .positive('expected minutes, more than 0')
  .max(MAX_TTL_MINUTES, `expected at most ${MAX_TTL_MINUTES} minutes`)
  .nullish();

const index = optional(
  z.union(
    [z.literal(false), list(name, 100, 'expected a list of paths')],
    'expected false, or a list of at most 100 paths',
  ),
);

export const itemKey = z.object({ namespace: labels, key: name });
/** Namespace in a query: labels joined by periods. */
const namespaceText = z
  .string()
  .nullish()
  .transform((text) => (text ? text.split('.') : []))
  .meta({ description: 'Labels joined by periods.' });

export const itemQuery = z.object({
  namespace: namespaceText,
  key: name,
  refresh_ttl: optional(z.boolean()),
});
/** Query that names an item instead of a body. */
export const itemKeyQuery = z.object({ namespace: namespaceText, key: optional(z.string()) });

export const itemPut = itemKey.extend({ value: jsonObject, index, ttl });

const text = optional(z.string('expected a string').min(1, 'expected at least 1 character'));

export const itemSearch = z.object({
  namespace_prefix: labels
    .nullish()
    .transform((value) => value ?? [])
    .meta({ default: [] }),
  filter: optional(filter('equal')),
  limit: openLimit(10),
  offset,
  query: text,
  refresh_ttl: optional(z.boolean('expected true or false')),
});

export const namespaceSearch = z.object({
  prefix: optional(labels),
  suffix: optional(labels),
  max_depth: optional(z.int('expected an integer of 1 or more').min(1, 'expected an integer of 1 or more')),
  limit: limit(100),
  offset,
});

/** Throws a 422 that names the invalid label. */
export function checkLabels(namespace: readonly string[]): readonly string[] {
  const problem = findNamespaceProblem(namespace);
  if (problem !== undefined) throw invalid(problem);
  return namespace;
}

/** Like `checkLabels`, and throws a 400 for an empty namespace: no item has one. */
export function checkNamespace(namespace: readonly string[]): readonly string[] {
  if (namespace.length === 0) throw noNamespace();
  return checkLabels(namespace);
}

/** Throws a 400 for the root label `langgraph`, which the LangGraph library reserves. */
export function checkRoot(namespace: readonly string[]): void {
  checkNamespace(namespace);
  if (namespace[0] === 'langgraph') throw reservedRoot(namespace);
}
