/** Parses `store.index.embed`: a project's function, or a provider's model. */
import { z } from 'zod';
import { toExportSpec, type ExportSpec } from './export-spec.ts';

/** Providers of embedding models; `load-embeddings.ts` maps each to its package. */
export const EMBEDDING_PROVIDERS = [
  'openai',
  'azure_openai',
  'google_genai',
  'cohere',
  'mistralai',
  'ollama',
] as const;
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number];

export type EmbeddingSpec =
  ExportSpec | { readonly provider: EmbeddingProvider; readonly model: string; readonly configFile: string };

const EXPORT = /^(\.{0,2}\/[^:]+|[^:]+\.[cm]?[jt]sx?)(:[^:]+)?$/;
const MODEL = new RegExp(`^(${EMBEDDING_PROVIDERS.join('|')}):(.+)$`);

export const embeddingSpec = z
  .string('expected "<file>:<function>" or "<provider>:<model>"')
  .refine((text) => EXPORT.test(text) || MODEL.test(text), {
    error: ({ input }) =>
      `expected "<file>:<function>", relative to this file, or "<provider>:<model>" with one of the providers ` +
      `${EMBEDDING_PROVIDERS.join(', ')}; found "${String(input)}"; for another provider name a function of yours`,
  })
  .meta({ form: '`"file:function"` or `"provider:model"`' });

export function toEmbeddingSpec(text: string, dir: string, configFile: string): EmbeddingSpec {
  const [, provider, model] = MODEL.exec(text) ?? [];
  return provider === undefined
    ? toExportSpec(text, dir)
    : { provider: provider as EmbeddingProvider, model: model!, configFile };
}
