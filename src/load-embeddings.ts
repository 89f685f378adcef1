/** Creates embedding models named `"<provider>:<model>"` with the project's copy of the provider's package. */
import { dirname, join } from 'node:path';
import type { Config } from './config/config.ts';
import type { EmbeddingProvider } from './config/embedding-spec.ts';
import { importFrom } from './graphs/user-modules.ts';
import { loadExport } from './load-export.ts';

const EMBEDS = 'function (texts) => vectors, nor an object with embedDocuments';

interface Provider {
  readonly package: string;
  readonly className: string;
  /** Second option that takes the model name, besides `model`. */
  readonly modelOption?: string;
}

const PROVIDERS: Readonly<Record<EmbeddingProvider, Provider>> = {
  openai: { package: '@langchain/openai', className: 'OpenAIEmbeddings' },
  azure_openai: {
    package: '@langchain/openai',
    className: 'AzureOpenAIEmbeddings',
    modelOption: 'azureOpenAIApiEmbeddingsDeploymentName',
  },
  google_genai: { package: '@langchain/google-genai', className: 'GoogleGenerativeAIEmbeddings' },
  cohere: { package: '@langchain/cohere', className: 'CohereEmbeddings' },
  mistralai: { package: '@langchain/mistralai', className: 'MistralAIEmbeddings' },
  ollama: { package: '@langchain/ollama', className: 'OllamaEmbeddings' },
};

/** Returns undefined when none is configured, or after adding to `problems`. */
export async function loadEmbeddings<T>(
  { configFile, store }: Config,
  recognise: (exported: unknown) => T | undefined,
  problems: string[],
): Promise<T | undefined> {
  const key = 'store.index.embed';
  const spec = store.index?.embed;
  if (spec === undefined || !('provider' in spec)) return loadExport(key, spec, recognise, EMBEDS, problems);
  const { provider, model } = spec;
  const { package: name, className, modelOption } = PROVIDERS[provider];
  const dir = dirname(configFile);
  const refuse = (reason: string): undefined => {
    problems.push(`${key} ("${provider}:${model}"): ${reason}`);
    return undefined;
  };
  let Model: unknown;
  try {
    // `package.json` need not exist: packages are resolved from its folder upwards.
    Model = (await importFrom(join(dir, 'package.json'), name))[className];
  } catch (error) {
    const isMissing = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(
      String((error as NodeJS.ErrnoException).code),
    );
    const { message } = error as Error;
    return refuse(
      isMissing && message.includes(name)
        ? `the package ${name} is not installed in ${dir}; run "npm install ${name}" there`
        : `the package ${name} does not load: ${message}`,
    );
  }
  if (typeof Model !== 'function')
    return refuse(`the package ${name} in ${dir} does not export ${className}; install its newest version`);
  try {
    const options = { model, ...(modelOption !== undefined && { [modelOption]: model }) };
    const made: unknown = new (Model as new (options: object) => unknown)(options);
    return recognise(made) ?? refuse(`${className} of ${name} has no method embedDocuments`);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
