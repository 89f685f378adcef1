/** Embeddings for semantic search: texts of an item's value, and their vectors. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

export interface Embedder {
  /** Length of every vector. */
  readonly dims: number;
  /** Embedded parts of a value unless a write names others; `$` is the whole value. */
  readonly fields: readonly string[];
  /** Returns one vector of `dims` numbers per text. Rejects with `EmbeddingFailed`. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** Describes the fault of the embedding function without quoting texts. */
export class EmbeddingFailed extends Error {
  override readonly name = 'EmbeddingFailed';
}

/** `false`: excluded from semantic search. A list: embedded parts. Undefined: the default parts. */
export type IndexChoice = false | readonly string[] | undefined;

/** Returns one text per part that a field selects; missing parts yield none. */
export function textsOf(value: JsonObject, fields: readonly string[]): string[] {
  return [...new Set(fields.flatMap((field) => partsAt(value, stepsOf(field)).flatMap(toText)))];
}

/** Splits a path such as `a.b[0].c`, `a[*].b` or `a[-1]`; `$` has no steps. */
const stepsOf = (field: string): string[] =>
  field === '$'
    ? []
    : field
        .replace(/^\$\./, '')
        .replaceAll('[', '.[')
        .split('.')
        .filter((step) => step !== '');

function partsAt(value: Json, steps: readonly string[]): Json[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [value];
  return inside(value, step).flatMap((part) => partsAt(part, rest));
}

function inside(value: Json, step: string): Json[] {
  const index = /^\[(\*|-?\d+)\]$/.exec(step)?.[1];
  if (index !== undefined) {
    if (!Array.isArray(value)) return [];
    if (index === '*') return value;
    const item = value.at(Number(index));
    return item === undefined ? [] : [item];
  }
  if (step === '*') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return isObject(value) && Object.hasOwn(value, step) ? [value[step] ?? null] : [];
}

function toText(part: Json): string[] {
  if (part === null || part === '') return [];
  return [typeof part === 'object' ? JSON.stringify(part) : String(part)];
}

/** Throws `EmbeddingFailed` unless there is one vector of `dims` finite numbers for each of `count` texts. */
export function checkVectors(answer: unknown, count: number, dims: number): readonly (readonly number[])[] {
  if (!Array.isArray(answer) || answer.length !== count)
    throw new EmbeddingFailed(
      `the embedding function returned ${Array.isArray(answer) ? `${answer.length} vectors` : 'no list'} for ${count} texts`,
    );
  return answer.map((given: unknown) => {
    const vector = ArrayBuffer.isView(given) ? Array.from(given as Float32Array) : given;
    if (!Array.isArray(vector) || vector.some((x) => typeof x !== 'number' || !Number.isFinite(x)))
      throw new EmbeddingFailed('the embedding function returned a vector that is no list of numbers');
    if (vector.length !== dims)
      throw new EmbeddingFailed(
        `the embedding function returned a vector of ${vector.length} numbers; store.index.dims says ${dims}`,
      );
    return vector as number[];
  });
}

export const toVectorText = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64');

/** Cosine similarity: 1 for equal direction, 0 for unrelated vectors or different lengths. */
export function similarity(query: readonly number[], stored: string): number {
  const bytes = Buffer.from(stored, 'base64');
  if (bytes.byteLength !== query.length * 4) return 0;
  // Copied, because a Float32Array must start at a multiple of 4 bytes.
  const floats = new Float32Array(new Uint8Array(bytes).buffer);
  let [dot, a, b] = [0, 0, 0];
  for (let i = 0; i < query.length; i++) {
    const x = query[i]!;
    const y = floats[i]!;
    dot += x * y;
    a += x * x;
    b += y * y;
  }
  return a === 0 || b === 0 ? 0 : dot / Math.sqrt(a * b);
}
