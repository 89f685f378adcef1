/**
 * What of a thread's metadata an index can find: its top-level scalars, and the scalars in its top-level arrays. Each
 * is one text, equal exactly when key, type and value are: 1, "1" and true are three, and so are "x" and ["x"].
 */
import { sha256 } from '../../../kernel/digest.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';

type Scalar = string | number | boolean | null;

/** Longer texts are known by their digest: keys of an index have to stay short. */
const LONGEST = 120;
/** A thread with more of them is not indexed by any, or one request could make every later commit of it slow. */
const MOST = 50;

/** Stands for all pairs of a thread that has too many. Pairs begin with `[` or `#`. */
export const UNINDEXED = '*';

export const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** "metadata[key] is this scalar" */
export const pairOf = (key: string, value: Scalar): string =>
  shorten(`[${JSON.stringify(key)},${JSON.stringify(value)}]`);
/** "metadata[key] is an array with this scalar in it" */
export const elementOf = (key: string, value: Scalar): string =>
  shorten(`[${JSON.stringify(key)},[${JSON.stringify(value)}]]`);

/** Text of JSON escapes everything that a database or a digest could confuse: NUL, halves of a surrogate pair. */
const shorten = (text: string): string => (text.length <= LONGEST ? text : `#${sha256(text)}`);

/** All pairs of a metadata object, each once; only `UNINDEXED` when they are too many. */
function pairsOf(metadata: JsonObject): string[] {
  const pairs: string[] = [];
  for (const [key, value] of Object.entries(metadata)) {
    // Those of one member differ, and none is like one of another member, which has another key.
    if (isScalar(value)) pairs.push(pairOf(key, value));
    else if (Array.isArray(value)) pairs.push(...elementsOf(key, value));
    if (pairs.length > MOST) return [UNINDEXED];
  }
  return pairs;
}

/** One more than may be is enough to know that they are too many. */
const elementsOf = (key: string, list: readonly Json[]): string[] =>
  [...new Set(list.filter(isScalar))].slice(0, MOST + 1).map((element) => elementOf(key, element));

/** The columns of a thread's row that its metadata fills. */
export interface MetadataColumns {
  readonly metadata: string;
  readonly pairs: string;
}

export const metadataColumns = (metadata: JsonObject): MetadataColumns => ({
  metadata: JSON.stringify(metadata),
  pairs: JSON.stringify(pairsOf(metadata)),
});

/** How many metadata are remembered, and how long (characters) one may be. */
const REMEMBERED = 1_000;
const LONGEST_REMEMBERED = 2_000;

/** The same for whoever makes the rows of very many facts: every run repeats what its thread says. */
export function rememberMetadataColumns(): typeof metadataColumns {
  const known = new Map<string, string>();
  return (metadata) => {
    const text = JSON.stringify(metadata);
    let pairs = known.get(text);
    if (pairs === undefined) {
      pairs = JSON.stringify(pairsOf(metadata));
      if (known.size === REMEMBERED) known.clear();
      if (text.length <= LONGEST_REMEMBERED) known.set(text, pairs);
    }
    return { metadata: text, pairs };
  };
}
