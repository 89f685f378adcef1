/** Loads the project's code: graphs, auth handler, `http.app`, embeddings. */
import { recogniseEmbedTexts } from './actors/embedder.ts';
import { recogniseAuth } from './auth/handler.ts';
import { ConfigError, type Config } from './config/config.ts';
import type { Graphs } from './workers/open-graphs.ts';
import { recogniseApp } from './http/custom-app.ts';
import { problemText } from './graphs/loader.ts';
import { loadedFiles } from './graphs/modules/loaded-files.ts';
import { portProblem } from './http/server.ts';
import { loadEmbeddings } from './load-embeddings.ts';
import { loadExport } from './load-export.ts';

type Loaded<T extends (exported: unknown) => unknown> = Exclude<ReturnType<T>, undefined> | undefined;

export interface Project {
  readonly graphs: Graphs;
  readonly handler: Loaded<typeof recogniseAuth>;
  readonly custom: Loaded<typeof recogniseApp>;
  readonly embedTexts: Loaded<typeof recogniseEmbedTexts>;
}

/**
 * Rejects with one `ConfigError` that contains `found` and all further problems, after closing the graphs. Without
 * `isStrict`, a graph that does not load is only a warning if other graphs load and nothing else is wrong.
 */
export async function loadProject(
  config: Config,
  opening: Promise<Graphs>,
  found: readonly string[],
  onWarning: (text: string) => void,
  { isStrict = false }: { readonly isStrict?: boolean } = {},
): Promise<Project> {
  const problems = [...found];
  // They load while a worker loads the graphs, whose problems are told first.
  const exporting = loadExports(config);
  const graphs = await opening.catch((error: unknown) => {
    problems.push(`graphs: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  });
  const unloaded = graphs?.problems ?? [];
  const ofGraphs = problems.length;
  const { handler, custom, embedTexts, problems: ofExports } = await exporting;
  problems.push(...ofExports);
  const isPartial = !isStrict && problems.length === 0 && unloaded.length < config.graphs.length;
  if (!isPartial) problems.splice(ofGraphs, 0, ...unloaded.map(problemText));
  if (graphs !== undefined && problems.length === 0) {
    for (const each of unloaded)
      onWarning(
        `${problemText(each)}; ${each.isRetried === true ? 'its next run tries again' : 'it is not served'}`,
      );
    const shared = loadedFiles().filter((file) => graphs.files.has(file) && !file.endsWith('.json'));
    for (const file of shared)
      onWarning(`${file} is loaded by graphs and by the server's own handlers, which share no module state`);
    return { graphs, handler, custom, embedTexts };
  }
  await graphs?.close();
  const port = await portProblem(config.host, config.port);
  throw new ConfigError(port === undefined ? problems : [...problems, port]);
}

async function loadExports(config: Config) {
  const problems: string[] = [];
  const { auth, http } = config;
  return {
    handler: await loadExport('auth', auth, recogniseAuth, 'Auth object', problems),
    custom: await loadExport('http.app', http.app, recogniseApp, 'object with fetch', problems),
    embedTexts: await loadEmbeddings(config, recogniseEmbedTexts, problems),
    problems,
  };
}
