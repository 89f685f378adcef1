/** Loads the graphs of the configuration and reports the specs that fail. */
import { existsSync } from 'node:fs';
import { roleOf, type GraphFunction } from './graph-function.ts';
import { toCompiledGraph, type CompiledGraph } from './graph-shapes.ts';
import { describeLoadError } from './load-error.ts';
import { importUserModule } from './user-modules.ts';

export interface GraphSpec {
  readonly id: string;
  /** Absolute path. */
  readonly file: string;
  readonly exportName: string;
}

export interface GraphProblem {
  readonly graphId: string;
  readonly file: string;
  readonly reason: string;
  /** The graph did not load in time or ended its worker. Each of its runs tries again in a worker of its own. */
  readonly isRetried?: boolean;
}

export const problemText = ({ graphId, file, reason }: GraphProblem): string =>
  `graph "${graphId}" (${file}): ${reason}`;

export const notLoadedText = ({ graphId, reason }: Pick<GraphProblem, 'graphId' | 'reason'>): string =>
  `The graph "${graphId}" did not load: ${reason}`;

/** A `factory` is called for every run; an `undecided` function gets its role at its first call. */
type GraphSource =
  | { readonly kind: 'graph'; readonly graph: CompiledGraph }
  | { readonly kind: 'factory' | 'plain' | 'undecided'; readonly fn: GraphFunction };

export interface LoadedGraph {
  readonly graphId: string;
  readonly file: string;
  readonly exportName: string;
  readonly source: GraphSource;
}

/**
 * Imports every graph of the configuration. Never rejects: each spec that fails becomes a problem, and the other graphs
 * load.
 */
export async function loadGraphs(
  specs: readonly GraphSpec[],
): Promise<{ graphs: LoadedGraph[]; problems: GraphProblem[] }> {
  const graphs: LoadedGraph[] = [];
  const problems: GraphProblem[] = [];
  const results = await Promise.all(specs.map(loadGraph));
  specs.forEach(({ id: graphId, file, exportName }, index) => {
    const result = results[index];
    if (typeof result === 'string') problems.push({ graphId, file, reason: result });
    else if (result !== undefined) graphs.push({ graphId, file, exportName, source: result });
  });
  return { graphs, problems };
}

/** Returns the source, or the reason why the spec fails. */
async function loadGraph({ file, exportName }: GraphSpec): Promise<GraphSource | string> {
  if (!existsSync(file)) return 'the file does not exist';
  let exported: Record<string, unknown>;
  try {
    exported = await importUserModule(file);
  } catch (error) {
    return `the file throws on import: ${describeLoadError(error)}`;
  }
  if (!Object.hasOwn(exported, exportName)) {
    const names = Object.keys(exported).sort().join(', ');
    return `there is no export "${exportName}"; the file exports ${names === '' ? 'nothing' : names}`;
  }
  return toSource(exportName, exported[exportName]);
}

async function toSource(name: string, exported: unknown): Promise<GraphSource | string> {
  let value: unknown;
  try {
    value = await exported;
    const graph = toCompiledGraph(value);
    if (graph !== undefined) return { kind: 'graph', graph };
  } catch (error) {
    return `the export "${name}" fails: ${describeLoadError(error)}`;
  }
  if (typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))) {
    const fn = value as GraphFunction;
    return { kind: roleOf(fn), fn };
  }
  return `the export "${name}" is ${describe(value)}; expected a graph, a builder, a promise of one, or a function`;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return 'a class';
  return typeof value === 'object' ? 'an object without the methods of a graph' : `a ${typeof value}`;
}
