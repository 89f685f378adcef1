/**
 * The set of texts that says what of a thread's metadata an index can find. For each top-level member: that it exists;
 * its value, when that is a scalar or a list; that it is a list; each scalar in the list. Two texts are equal exactly
 * when key, kind and value are: 1, "1" and true are three, and so are "x" and ["x"].
 */
import { sha256 } from '../../../kernel/digest.ts';
import type { Scalar } from '../../../kernel/filter.ts';
import { canonical, type Json, type JsonObject } from '../../../kernel/json.ts';

/** Longer texts are known by their digest: keys of an index have to stay short. */
const MAX_PAIR_CHARS = 120;
/** A thread with more of them is not indexed by any, or one request could block the writer. */
const MAX_PAIRS = 100;

/** Stands for all pairs of a thread that has too many. Pairs begin with `[` or `#`. */
export const UNINDEXED = '*';

export const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** JSON text escapes everything that a database or a digest could confuse: NUL, halves of a surrogate pair. */
const textOf = (...parts: readonly string[]): string => {
  const text = `[${parts.join()}]`;
  return text.length <= MAX_PAIR_CHARS ? text : `#${sha256(text)}`;
};

export const existsPair = (key: string): string => textOf(JSON.stringify(key));
export const valuePair = (key: string, value: Json): string => textOf(JSON.stringify(key), canonical(value));
export const elementPair = (key: string, value: Scalar): string =>
  textOf(JSON.stringify(key), JSON.stringify(value), 'true');
export const listPair = (key: string): string => textOf(JSON.stringify(key), 'true', 'true', 'true');

/** All pairs of a metadata object, each once; only `UNINDEXED` when they are too many. */
function pairsOf(metadata: JsonObject): string[] {
  const pairs: string[] = [];
  for (const [key, value] of Object.entries(metadata)) {
    pairs.push(existsPair(key));
    if (isScalar(value)) pairs.push(valuePair(key, value));
    else if (Array.isArray(value)) {
      const elements = [...new Set(value.filter(isScalar))];
      if (elements.length > MAX_PAIRS) return [UNINDEXED];
      pairs.push(listPair(key), valuePair(key, value), ...elements.map((each) => elementPair(key, each)));
    }
    if (pairs.length > MAX_PAIRS) return [UNINDEXED];
  }
  return pairs;
}

/** The columns of a thread's row that its metadata fills. */
export interface MetadataColumns {
  readonly metadata: string;
  readonly pairs: string;
}

export const metadataColumns = (metadata: JsonObject): MetadataColumns => ({
  metadata: JSON.stringify(metadata),
  pairs: JSON.stringify(pairsOf(metadata)),
});
