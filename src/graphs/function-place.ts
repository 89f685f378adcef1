/** Finds where a function of graph code is defined, for failures whose stack does not show it. */
import { Session } from 'node:inspector';
import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { placeText, stackOf, userPlaceOf, type CodePosition } from '../kernel/stack.ts';
import { LocatedFailure } from './failure.ts';
import type { CompiledGraph } from './graph-shapes.ts';

/** The global name under which the inspector sees the function. */
const NAME = Symbol.for('function whose place is asked');

/** Undefined when the function is not defined in a file. Takes a tenth of a second, once for each function. */
export function placeOfFunction(fn: unknown): CodePosition | undefined {
  if (typeof fn !== 'function') return undefined;
  if (!known.has(fn)) known.set(fn, lookUp(fn));
  return known.get(fn);
}

const known = new WeakMap<object, CodePosition | undefined>();

/** Recordings name graph code that uses the inspector; this function is not graph code. */
const { connect } = Session.prototype;

function lookUp(fn: unknown): CodePosition | undefined {
  const session = new Session();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const shared = globalThis as { [NAME]?: unknown };
  shared[NAME] = fn;
  try {
    connect.call(session);
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
  } catch {
    // A re-execution has no inspector.
    return undefined;
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
  return stackOfFunction(`The node "${node}"`, node, graph.nodes[node]?.bound?.func);
}

/** A stack with one frame: the function of the node's only conditional edge. */
export function stackOfBranch({ builder }: CompiledGraph, node: string): string | undefined {
  const [branch, ...others] = Object.values(builder?.branches?.[node] ?? {});
  return others.length > 0
    ? undefined
    : stackOfFunction(`The edges of "${node}"`, node, branch?.path?.func ?? branch?.path?.bound?.func);
}

/** Adds the place of the function to a failure whose stack shows no file of the project. */
export function placedAt(failure: unknown, name: string, fn: unknown): unknown {
  const { thrown, place } = failure instanceof LocatedFailure ? failure : { thrown: failure, place: {} };
  const stack = place.stack ?? extended(thrown, () => stackOfFunction(`The function "${name}"`, name, fn));
  return stack === undefined ? failure : new LocatedFailure(thrown, { ...place, stack });
}

/** The stack of a thrown value with `more` below it; undefined if its own shows a file of the project. */
export function extended(thrown: unknown, more: () => string | undefined): string | undefined {
  const own = stackOf(thrown);
  if (own !== undefined && userPlaceOf(own) !== undefined) return undefined;
  const found = more();
  return found && own !== undefined ? `${own}\n${found}` : found;
}

function stackOfFunction(title: string, name: string, fn: unknown): string | undefined {
  const place = placeOfFunction(fn);
  return place && `${title}\n    at ${name} (${placeText(place)})`;
}
