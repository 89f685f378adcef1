/** The project's function that turns texts into vectors, for the store's search by meaning. */
import { checkVectors, EmbeddingFailed, type Embedder } from '../item/embedding.ts';
import type { Clock } from '../kernel/clock.ts';

export type EmbedTexts = (texts: string[]) => unknown;

/** An answer that is not there by then has failed. */
const DEADLINE_MS = 30_000;

/**
 * A function `(texts: string[]) => number[][]`, which may be async, or an object with that as its method
 * `embedDocuments`; undefined for anything else.
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
      // In a promise of its own, so that what it throws at once rejects too.
      const answer = (async () => embedTexts([...texts]))();
      try {
        return checkVectors(await Promise.race([answer, late]), texts.length, dims);
      } finally {
        cancel();
      }
    },
  };
}
