import { z } from 'zod';
import { findFilterProblem } from '../../item/filter.ts';
import { findNamespaceProblem, MAX_LABELS } from '../../item/namespace.ts';
import { invalid, noNamespace, reservedRoot } from '../replies.ts';
import { jsonObject, limit, list, name, offset, openLimit, optional } from './common.ts';

const labels = list(z.string('expected a string'), MAX_LABELS, 'expected a list of labels');

/** 100 years: beyond it a client means something else. */
const LONGEST_TTL = 52_560_000;
const ttl = z
  .number('expected minutes, or null for ever')
  .positive('expected minutes, more than 0')
  .max(LONGEST_TTL, `expected at most ${LONGEST_TTL} minutes`)
  .nullish();

const index = optional(
  z.union(
    [z.literal(false), list(name, 100, 'expected a list of paths')],
    'expected false, or a list of at most 100 paths',
  ),
);

export const itemPlace = z.object({ namespace: labels, key: name });
export const itemPut = itemPlace.extend({ value: jsonObject, index, ttl });

const filter = optional(
  jsonObject.superRefine((value, context) => {
    const problem = findFilterProblem(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
);
const text = optional(z.string('expected a string').min(1, 'expected at least 1 character'));

export const itemSearch = z.object({
  namespace_prefix: labels.nullish().transform((value) => value ?? []),
  filter,
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

/** Throws a 422 with the label at fault. */
export function checkLabels(namespace: readonly string[]): readonly string[] {
  const problem = findNamespaceProblem(namespace);
  if (problem !== undefined) throw invalid(problem);
  return namespace;
}

/** The namespace of an item is never empty. */
export function checkNamespace(namespace: readonly string[]): readonly string[] {
  if (namespace.length === 0) throw noNamespace();
  return checkLabels(namespace);
}

/** The library keeps the root label for itself: no graph could write there. */
export function checkRoot(namespace: readonly string[]): void {
  checkNamespace(namespace);
  if (namespace[0] === 'langgraph') throw reservedRoot(namespace);
}
