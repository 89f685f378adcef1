/**
 * Derives schemas of exported graphs from the types in a project's source. It runs in a child process, because the
 * compiler blocks for seconds.
 */
import { dirname } from 'node:path';
import { findTsconfigPath } from '../modules/settings.ts';
import type { GraphSchemas } from '../schema-port.ts';
import {
  loadCompiler,
  type Checker,
  type Compiler,
  type Program,
  type SourceFile,
  type SyntaxNode,
  type Type,
} from './compiler.ts';
import type { FileReport, SourceQuery, SourceReport } from './source-report.ts';
import { createTypeSchemas, type TypeSchemas } from './type-schema.ts';

/**
 * Throws if the file is not a module. `note` gets the path of every file that is read, and of every missing
 * `tsconfig.json` that was looked up.
 */
export function readSourceFile(
  { file, exportNames }: SourceQuery,
  note: (path: string) => void = () => undefined,
): FileReport {
  const compiler = loadCompiler();
  const options = optionsFor(compiler, file, note);
  const host = compiler.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (path) => {
    note(path);
    return readFile(path);
  };
  const program = compiler.createProgram([file], options, host);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (source === undefined || module === undefined) throw new Error(`${file} is no module`);
  const schemas = createTypeSchemas(compiler, checker);
  const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]));
  const subgraphs = findSubgraphs(compiler, program, checker, schemas, source);
  const reports: Record<string, SourceReport> = {};
  for (const name of exportNames) {
    const symbol = exported.get(name);
    if (symbol === undefined) continue;
    const report = reportOn(checker.getTypeOfSymbol(symbol), checker, schemas);
    if (report !== undefined) reports[name] = { ...report, subgraphs };
  }
  return reports;
}

/** The project's compiler options, adjusted to accept everything that the loader accepts. */
function optionsFor(compiler: Compiler, file: string, note: (path: string) => void): object {
  const sys = Object.assign(Object.create(compiler.sys) as Compiler['sys'], {
    readFile(path: string) {
      note(path);
      return compiler.sys.readFile(path);
    },
  });
  const nearest = compiler.findConfigFile(dirname(file), (at) => {
    note(at);
    return sys.fileExists(at);
  });
  const path = nearest && findTsconfigPath(nearest, file, note);
  const parsed =
    path === undefined
      ? undefined
      : compiler.parseJsonConfigFileContent(
          compiler.readConfigFile(path, (at) => sys.readFile(at)).config ?? {},
          sys,
          dirname(path),
        );
  const { paths, baseUrl, jsx, types, customConditions } = parsed?.options ?? {};
  return {
    ...(paths && { paths }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(customConditions && { customConditions }),
    jsx: jsx ?? compiler.JsxEmit.Preserve,
    // Without a list the compiler loads every `@types` package, which state types rarely use.
    types: types ?? [],
    target: compiler.ScriptTarget.ESNext,
    module: compiler.ModuleKind.ESNext,
    moduleResolution: compiler.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    allowJs: true,
    esModuleInterop: true,
    noEmit: true,
    resolveJsonModule: true,
    skipLibCheck: true,
    strict: true,
  };
}

function reportOn(
  exported: Type,
  checker: Checker,
  schemas: TypeSchemas,
): Pick<SourceReport, 'kind' | 'schemas'> | undefined {
  const value = checker.getAwaitedType(exported) ?? exported;
  const graph = toGraph(value, checker);
  if (graph !== undefined) return { kind: 'graph', schemas: graphSchemas(graph, checker, schemas) };
  const [signature] = value.getCallSignatures();
  if (signature === undefined) return undefined;
  const returned = signature.getReturnType();
  const made = toGraph(checker.getAwaitedType(returned) ?? returned, checker);
  if (made !== undefined) return { kind: 'graph', schemas: graphSchemas(made, checker, schemas) };
  const [first] = signature.getParameters();
  const state = first && schemas.root(checker.getTypeOfSymbol(first));
  return { kind: 'function', schemas: state === undefined ? {} : { input: state, state } };
}

/** The compiled graph's type: `type` itself, a wrapper's `graph`, or the result of a builder's `compile()`. */
function toGraph(type: Type, checker: Checker): Type | undefined {
  if (type.getProperty('~InputType') !== undefined) return type;
  const inner = propertyOf(type, 'graph', checker);
  if (inner?.getProperty('~InputType') !== undefined) return inner;
  const compiled = propertyOf(type, 'compile', checker)?.getCallSignatures()[0]?.getReturnType();
  return compiled?.getProperty('~InputType') === undefined ? undefined : compiled;
}

function graphSchemas(graph: Type, checker: Checker, schemas: TypeSchemas): Partial<GraphSchemas> {
  const read = (name: string) => {
    const type = propertyOf(graph, name, checker);
    return type && schemas.root(type);
  };
  const output = read('~OutputType');
  const found = {
    input: read('~InputType'),
    output,
    state: read('~RunOutput') ?? output,
    config: contextOf(graph, checker, schemas),
  };
  return Object.fromEntries(Object.entries(found).filter(([, schema]) => schema !== undefined));
}

/** The schema of `context` in the options of `invoke`; before langgraph 0.4 that of `configurable`. */
function contextOf(graph: Type, checker: Checker, schemas: TypeSchemas) {
  const options = propertyOf(graph, 'invoke', checker)?.getCallSignatures()[0]?.getParameters()[1];
  if (options === undefined) return undefined;
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(options));
  const context = propertyOf(type, 'context', checker) ?? propertyOf(type, 'configurable', checker);
  return context && schemas.root(checker.getNonNullableType(context));
}

function propertyOf(type: Type, name: string, checker: Checker): Type | undefined {
  const property = type.getProperty(name);
  return property && checker.getTypeOfSymbol(property);
}

/** Finds graphs passed to `addNode(name, graph)` in project files. A name with two different schemas is left out. */
function findSubgraphs(
  compiler: Compiler,
  program: Program,
  checker: Checker,
  schemas: TypeSchemas,
  root: SourceFile,
): Record<string, Partial<GraphSchemas>> {
  const found = new Map<string, Partial<GraphSchemas> | undefined>();
  const visit = (node: SyntaxNode): void => {
    compiler.forEachChild(node, visit);
    if (!compiler.isCallExpression(node)) return;
    const { expression } = node;
    const [name, added] = node.arguments;
    if (!compiler.isPropertyAccessExpression(expression) || expression.name.text !== 'addNode') return;
    if (name === undefined || added === undefined || !compiler.isStringLiteralLike(name)) return;
    const graph = toGraph(checker.getTypeAtLocation(added), checker);
    if (graph === undefined) return;
    const own = graphSchemas(graph, checker, schemas);
    const before = found.get(name.text);
    const same = !found.has(name.text) || JSON.stringify(before) === JSON.stringify(own);
    found.set(name.text, same ? own : undefined);
  };
  for (const source of program.getSourceFiles())
    if (source === root || (!source.isDeclarationFile && !source.fileName.includes('/node_modules/')))
      visit(source);
  return Object.fromEntries([...found].filter((entry) => entry[1] !== undefined)) as Record<
    string,
    Partial<GraphSchemas>
  >;
}
