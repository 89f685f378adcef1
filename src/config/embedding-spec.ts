/** Parses `store.index.embed`: a project's function, or a provider's model. */
import { z } from 'zod';
import { toExportSpec, type ExportSpec } from './export-spec.ts';
import { withForm } from './setting.ts';

/** Providers of embedding models; `load-embeddings.ts` maps each to its package. */
const PROVIDERS = ['openai', 'azure_openai', 'google_genai', 'cohere', 'mistralai', 'ollama'] as const;
export type EmbeddingProvider = (typeof PROVIDERS)[number];

export type EmbeddingSpec = ExportSpec | { readonly provider: EmbeddingProvider; readonly model: string };

const EXPORT = /^(\.{0,2}\/[^:]+|[^:]+\.[cm]?[jt]sx?)(:[^:]+)?$/;
const MODEL = new RegExp(`^(${PROVIDERS.join('|')}):(.+)$`);

export const embeddingSpec = withForm(
  z
    .string('expected "<file>:<function>" or "<provider>:<model>"')
    .refine(
      (text) => EXPORT.test(text) || MODEL.test(text),
      'expected "<file>:<function>", relative to this file and for any provider, or "<provider>:<model>" with one of ' +
        `the providers ${PROVIDERS.join(', ')}`,
    ),
  '`"file:function"` or `"provider:model"`',
).transform((text): EmbeddingSpec => {
  const [, provider, model] = MODEL.exec(text) ?? [];
  return provider === undefined
    ? toExportSpec(text)
    : { provider: provider as EmbeddingProvider, model: model! };
});
