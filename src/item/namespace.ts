/**
 * Namespaces: lists of labels, from general to special. Labels are not empty and contain no period. So a namespace maps
 * to one path text, and a prefix search to an index range.
 */
import { findTextProblem } from '../kernel/json.ts';

export type Namespace = readonly string[];

/** Longer namespaces are refused, because every label is part of several indexes. */
export const MAX_LABELS = 32;
const MAX_LABEL_CHARS = 512;

/** Describes an invalid namespace for the client. Callers check for empty ones. */
export function findNamespaceProblem(namespace: Namespace): string | undefined {
  if (namespace.some((label) => typeof label !== 'string' || label === '' || label.includes('.')))
    return `Namespace labels cannot be empty or contain periods. Received: ${namespace.join('.')}`;
  if (namespace.length > MAX_LABELS) return `namespace: expected at most ${MAX_LABELS} labels`;
  for (const label of namespace) {
    const problem = findTextProblem(label);
    if (problem !== undefined) return `namespace: expected plain text, found ${problem}`;
    if (label.length > MAX_LABEL_CHARS)
      return `namespace: expected at most ${MAX_LABEL_CHARS} characters in a label`;
  }
  return undefined;
}

/** Returns `a.b.` for `[a, b]`: the final period keeps `a` from being a prefix of `ab`. */
export const toPath = (namespace: Namespace): string => namespace.map((label) => `${label}.`).join('');

/** Path with the labels reversed, which turns a suffix search into a prefix search. */
export const toReversedPath = (namespace: Namespace): string => toPath([...namespace].reverse());

export const fromPath = (path: string): string[] => path.split('.').slice(0, -1);

/** Exclusive upper bound of all paths with the non-empty prefix `path`: "/" follows "." in character order. */
export const endOfPath = (path: string): string => `${path.slice(0, -1)}/`;
