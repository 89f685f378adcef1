/** Calls the project's embedding function for semantic search in the store. */
import { checkVectors, EmbeddingFailed, type Embedder } from '../item/embedding.ts';
import type { Clock } from '../kernel/clock.ts';

export type EmbedTexts = (texts: string[]) => unknown;

/** Time-out of one call. */
const DEADLINE_MS = 30_000;

/**
 * Accepts a function `(texts: string[]) => number[][]`, sync or async, or an object with such a method
 * `embedDocuments`. Returns undefined for other values.
 */
export function recogniseEmbedTexts(exported: unknown): EmbedTexts | undefined {
  if (typeof exported === 'function') return exported as EmbedTexts;
  const model = exported as { embedDocuments?: unknown } | null | undefined;
  return typeof model?.embedDocuments === 'function'
    ? (texts) => (model as { embedDocuments: EmbedTexts }).embedDocuments(texts)
    : undefined;
}

export interface EmbedderOptions {
  readonly embedTexts: EmbedTexts;
  readonly dims: number;
  readonly fields: readonly string[];
  readonly clock: Pick<Clock, 'after'>;
}

export function createEmbedder({ embedTexts, dims, fields, clock }: EmbedderOptions): Embedder {
  return {
    dims,
    fields,
    async embed(texts) {
      let cancel: () => void = () => undefined;
      const late = new Promise<never>((_, reject) => {
        cancel = clock.after(DEADLINE_MS, () =>
          reject(new EmbeddingFailed(`the embedding function took longer than ${DEADLINE_MS / 1000} s`)),
        );
      });
      // An async wrapper turns a synchronous throw into a rejection.
      const answer = (async () => embedTexts([...texts]))();
      try {
        return checkVectors(await Promise.race([answer, late]), texts.length, dims);
      } finally {
        cancel();
      }
    },
  };
}
