/**
 * Finds the user's own copy of the graph library, starting from the graph's file. It must be the module instances that
 * built the graph, because the runtime recognises some classes by identity (`Send`).
 */
import { createRequire } from 'node:module';
import type { Reviver, StoreQueue } from './codec.ts';
import type { CompiledGraph } from './graph-shapes.ts';
import { transformersOf } from './transformers.ts';
import { importFrom } from './user-modules.ts';

type Namespace = Record<string, unknown>;
type Fields = Record<string, unknown>;
type Constructor = new (...args: unknown[]) => unknown;

/**
 * Finds the library that built the graph; without a graph, the one that the file's factories will use. Rejects if the
 * file cannot import a library.
 */
export type UserLibraryFinder = (graph?: CompiledGraph) => Promise<Reviver>;

export function openUserLibraries(file: string): UserLibraryFinder {
  let modules: Promise<Reviver> | undefined;
  // Cached per graph: a look-up costs as much as the start of a run, and its result never changes.
  const found = new WeakMap<CompiledGraph, Promise<Reviver>>();
  const find = async (graph: CompiledGraph | undefined): Promise<Reviver> => {
    const common = loadedCommonJs(file);
    // The CommonJS build is used only if it built this graph: another file of the project may have loaded it.
    if (common !== undefined && (graph === undefined || builtBy(common.pregel, graph)))
      return toReviver(common.graphs, common.messages);
    if (modules !== undefined) return modules;
    modules = importLibrary(file);
    // A failed look-up is retried: it may have failed for lack of file descriptors.
    modules.catch(() => (modules = undefined));
    return modules;
  };
  return (graph) => {
    if (graph === undefined) return find(undefined);
    const known = found.get(graph);
    if (known !== undefined) return known;
    const looked = find(graph);
    found.set(graph, looked);
    looked.catch(() => found.delete(graph));
    return looked;
  };
}

async function importLibrary(file: string): Promise<Reviver> {
  const near = await neighbour(file);
  const graphs = await importFrom(near, '@langchain/langgraph');
  return toReviver(graphs, await importFrom(near, '@langchain/core/messages'));
}

/** The file to import the library from: `file`, or the project's `langchain` package, which depends on the library. */
async function neighbour(file: string): Promise<string> {
  try {
    await importFrom(file, '@langchain/langgraph');
    return file;
  } catch (error) {
    try {
      return createRequire(file).resolve('langchain');
    } catch {
      throw error;
    }
  }
}

interface CommonJsLibrary {
  readonly graphs: Namespace;
  readonly pregel: Namespace;
  readonly messages: Namespace;
}

function loadedCommonJs(file: string): CommonJsLibrary | undefined {
  const require = createRequire(file);
  const loaded = (specifier: string): Namespace | undefined => {
    try {
      return require.cache[require.resolve(specifier)]?.exports as Namespace | undefined;
    } catch {
      return undefined;
    }
  };
  const graphs = loaded('@langchain/langgraph');
  const pregel = loaded('@langchain/langgraph/pregel');
  const messages = loaded('@langchain/core/messages');
  if (graphs === undefined || pregel === undefined || messages === undefined) return undefined;
  return { graphs, pregel, messages };
}

function builtBy({ Pregel }: Namespace, graph: CompiledGraph): boolean {
  return (
    typeof Pregel === 'function' && Object.prototype.isPrototypeOf.call(Pregel.prototype as object, graph)
  );
}

const MESSAGE_CLASSES: ReadonlyMap<string, string> = new Map([
  ['human', 'HumanMessage'],
  ['ai', 'AIMessage'],
  ['system', 'SystemMessage'],
  ['tool', 'ToolMessage'],
  ['function', 'FunctionMessage'],
  ['remove', 'RemoveMessage'],
  ['generic', 'ChatMessage'],
]);

function toReviver(graphs: Namespace, messages: Namespace): Reviver {
  return {
    message({ type, ...fields }) {
      const kind = String(type);
      const Message = messages[MESSAGE_CLASSES.get(kind) ?? (/^\w+MessageChunk$/.test(kind) ? kind : '')];
      // A message type unknown to this library version stays in wire form, which its reducers accept.
      return typeof Message === 'function' ? new (Message as Constructor)(fields) : { type, ...fields };
    },
    ...(typeof graphs['BaseStore'] === 'function' && {
      store: () => new (graphs['BaseStore'] as Constructor)() as object,
    }),
    ...(typeof graphs['AsyncBatchedStore'] === 'function' && {
      storeQueue: graphs['AsyncBatchedStore'].prototype as StoreQueue,
    }),
    ...(typeof graphs['getConfig'] === 'function' && { config: graphs['getConfig'] as () => unknown }),
    ...transformersOf(graphs),
    command: (fields: Fields) => new (graphs['Command'] as Constructor)(fields),
    send: ({ node, args, timeout }: Fields) =>
      new (graphs['Send'] as Constructor)(node, args, timeout === undefined ? undefined : { timeout }),
  };
}
