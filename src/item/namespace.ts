/**
 * Namespaces: lists of labels, from the general to the special. No label is empty or holds a period, so a namespace
 * is one path text, and "is a prefix of" is a range of texts that an index can search.
 */
import { findTextProblem } from '../kernel/json.ts';

export type Namespace = readonly string[];

/** Longer ones are refused: every label is part of several indexes. */
export const MAX_LABELS = 32;
export const LONGEST_LABEL = 512;

/** What is wrong with a namespace, in words for the client; an empty one is the caller's business. */
export function findNamespaceProblem(namespace: Namespace): string | undefined {
  if (namespace.some((label) => typeof label !== 'string' || label === '' || label.includes('.')))
    return `Namespace labels cannot be empty or contain periods. Received: ${namespace.join('.')}`;
  if (namespace.length > MAX_LABELS) return `namespace: expected at most ${MAX_LABELS} labels`;
  for (const label of namespace) {
    const problem = findTextProblem(label);
    if (problem !== undefined) return `namespace: expected plain text, found ${problem}`;
    if (label.length > LONGEST_LABEL)
      return `namespace: expected at most ${LONGEST_LABEL} characters in a label`;
  }
  return undefined;
}

/** `a.b.` for `[a, b]`: the period at the end keeps `a` from being a prefix of `ab`. */
export const toPath = (namespace: Namespace): string => namespace.map((label) => `${label}.`).join('');

/** The same from the last label to the first, so that a suffix is a prefix. */
export const toReversedPath = (namespace: Namespace): string => toPath([...namespace].reverse());

export const fromPath = (path: string): string[] => path.split('.').slice(0, -1);

/** All paths that begin with `path`, which is not empty, are before this text: "/" comes next after ".". */
export const endOfPath = (path: string): string => `${path.slice(0, -1)}/`;
