/** Finds where a function of graph code is defined, for failures whose stack does not show it. */
import { Session } from 'node:inspector';
import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CodePosition } from '../kernel/stack.ts';
import type { CompiledGraph } from './graph-shapes.ts';

/** The global name under which the inspector sees the function. */
const NAME = Symbol.for('function whose place is asked');

/** Undefined when the function is not defined in a file. Takes some milliseconds, so only failures may call it. */
export function placeOfFunction(fn: unknown): CodePosition | undefined {
  if (typeof fn !== 'function') return undefined;
  const session = new Session();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const shared = globalThis as { [NAME]?: unknown };
  shared[NAME] = fn;
  try {
    session.connect();
    // Replies of a session in its own thread arrive before `post` returns.
    session.post('Debugger.enable');
    let objectId: string | undefined;
    const expression = `globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(NAME))})]`;
    session.post('Runtime.evaluate', { expression }, (_, reply) => (objectId = reply.result.objectId));
    let found: { scriptId: string; lineNumber: number; columnNumber: number } | undefined;
    session.post('Runtime.getProperties', { objectId: objectId! }, (_, { internalProperties = [] }) => {
      found = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value;
    });
    const url = urls.get(found?.scriptId ?? '');
    return found && url?.startsWith('file:') === true ? toSource(url, found) : undefined;
  } finally {
    delete shared[NAME];
    session.disconnect();
  }
}

function toSource(
  url: string,
  { lineNumber, columnNumber }: { readonly lineNumber: number; readonly columnNumber: number },
): CodePosition {
  const entry = findSourceMap(url)?.findEntry(lineNumber, columnNumber);
  const { originalLine = lineNumber, originalColumn = columnNumber } = (entry ?? {}) as Partial<{
    originalLine: number;
    originalColumn: number;
  }>;
  return { file: fileURLToPath(url), line: originalLine + 1, column: originalColumn + 1 };
}

/** A stack with one frame: the definition of the node's function. Undefined when that is not the project's own. */
export function stackOfNode(graph: CompiledGraph, node: string): string | undefined {
  const { bound } = Object(graph.nodes[node]) as { readonly bound?: { readonly func?: unknown } };
  const place = placeOfFunction(bound?.func);
  return place && `The node "${node}"\n    at ${node} (${place.file}:${place.line}:${place.column})`;
}
