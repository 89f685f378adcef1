/**
 * Module hooks for the code of user projects. Node loads this program's own modules without them, and packages, except for
 * those with pools of random bytes (pools.ts). For other files the hooks do four things:
 *
 * 1. Imports of this package resolve, from any folder, to the module instance that this program uses.
 * 2. Specifiers resolve as in a TypeScript bundler (resolve.ts).
 * 3. TypeScript, JSX and JSON are compiled to JavaScript as ESM or CommonJS (source.ts).
 * 4. ES modules begin with a statement that tells which module loads (recording/module-loading.ts).
 */
import Module, { createRequire, registerHooks, setSourceMapsSupport } from 'node:module';
import type { LoadFnOutput, LoadHookSync, ResolveHookSync } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isBuilt, isOwnModule, ownModule } from '../../kernel/own-modules.ts';
import { PRODUCT } from '../../kernel/product.ts';
import { defineDecoratorHelpers } from './decorators.ts';
import { isTypeScript } from './extensions.ts';
import { hasModuleSyntax } from './format.ts';
import { noteFile, noteImport } from './loaded-files.ts';
import { resolvePackageImport } from './package-imports.ts';
import { POOLED, withoutPool } from './pools.ts';
import { resolveUserModule } from './resolve.ts';
import { forgetProjectSettings } from './settings.ts';
import { jsonModule, loadSource, type LoadedSource } from './source.ts';
import { prefixed, withSourceMap } from './source-map.ts';
import { transform } from './transform.ts';
import { readTextFile } from '../../kernel/text-file.ts';
import { defineEntering, enteringStatement, whileLoading } from '../../recording/module-loading.ts';

/** The public exports of this package's package.json: specifier to file URL. */
export const ownExports: ReadonlyMap<string, string> = new Map([
  [PRODUCT, ownModule('auth/auth').href],
  [`${PRODUCT}/auth`, ownModule('auth/auth').href],
]);

/** `rewound-from:[parent, specifier]` resolves as if `parent` had written the import. */
const FROM = `${PRODUCT}-from:`;

export const specifierFrom = (parent: URL, specifier: string): string =>
  FROM + encodeURIComponent(JSON.stringify([parent.href, specifier]));

const resolve: ResolveHookSync = (specifier, context, next) => {
  const found = resolveUrl(specifier, context, next);
  const { parentURL = '' } = context;
  if (isUserFile(parentURL) && isUserFile(found.url)) noteImport(toFile(found.url), toFile(parentURL));
  if (generation === 0 || context.conditions.includes('require') || !isUserFile(found.url)) return found;
  const mark = `${PRODUCT}=${generation}`;
  return { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}${mark}` };
};

/** Node caches ES modules by URL for the life of the process, so each generation appends its own query to the URLs. */
let generation = 0;

/** Makes later imports of project files load them again, changed or not. */
export function forgetModules(): void {
  generation += 1;
  forgetProjectSettings();
  const { cache } = createRequire(import.meta.url);
  for (const file of Object.keys(cache)) if (isUserFile(pathToFileURL(file).href)) delete cache[file];
}

const resolveUrl: ResolveHookSync = (specifier, context, next) => {
  if (specifier.startsWith(FROM)) {
    const request = decodeURIComponent(specifier.slice(FROM.length));
    const [parentURL, wanted] = JSON.parse(request) as [string, string];
    return resolveUrl(wanted, { ...context, parentURL }, next);
  }
  const own = ownExports.get(specifier);
  if (own !== undefined) return { url: own, shortCircuit: true };
  const { parentURL } = context;
  return parentURL !== undefined && isUserFile(parentURL)
    ? resolveUserModule(specifier, { ...context, parentURL }, next)
    : (resolvePackageImport(specifier, context) ?? next(specifier, context));
};

const load: LoadHookSync = (url, context, next) => {
  if (!isUserFile(url)) return loadOther(url, next(url, context));
  const isImport = !context.conditions.includes('require');
  const file = toFile(url);
  noteFile(file);
  if (file.endsWith('.json')) {
    // Node requires `type: 'json'` for JSON imports; TypeScript compilers do not, so user code omits it.
    if (!isImport || context.importAttributes['type'] !== undefined) return next(url, context);
    return { format: 'module', source: jsonModule(file), shortCircuit: true };
  }
  const loaded = loadSource(file);
  if (loaded === undefined) uncompiledFiles.add(file);
  return loaded === undefined ? enteringFile(url, next(url, context)) : { ...loaded, shortCircuit: true };
};

/** Loads a file of a package, or of this program. */
function loadOther(url: string, loaded: LoadFnOutput): LoadFnOutput {
  if (isOwnModule(url)) return loaded;
  return entering(url, POOLED.test(url) ? withoutPool(loaded) : loaded);
}

/** Stacks keep the columns of a project's file. One with a map of its own is compiled, and its first line says little. */
function enteringFile(url: string, loaded: LoadFnOutput): LoadFnOutput {
  if (loaded.format !== 'module' || loaded.source === undefined || loaded.source === null) return loaded;
  const code = Buffer.from(loaded.source as Uint8Array).toString('utf8');
  if (code.startsWith('#!') || code.includes('//# sourceMappingURL=')) return entering(url, loaded);
  const file = withoutQuery(url);
  return { ...loaded, source: withSourceMap(prefixed(enteringStatement(file), file, code)) };
}

/** Lets an ES module that Node loads unchanged tell that it begins. */
function entering(url: string, { source, ...loaded }: LoadFnOutput): LoadFnOutput {
  if (loaded.format !== 'module' || source === undefined || source === null) return { ...loaded, source };
  const code = Buffer.from(source as Uint8Array);
  // A script of a shell has its interpreter first.
  if (code.toString('latin1', 0, 2) === '#!') return { ...loaded, source };
  return { ...loaded, source: Buffer.concat([Buffer.from(enteringStatement(withoutQuery(url))), code]) };
}

/** True for project files. A package's JavaScript is excluded; its TypeScript is included, because Node cannot run it. */
function isUserFile(url: string): boolean {
  if (!url.startsWith('file:') || isOwnModule(url)) return false;
  return !url.includes('/node_modules/') || isTypeScript(withoutQuery(url));
}

const toFile = (url: string): string => fileURLToPath(withoutQuery(url));
const withoutQuery = (url: string): string => url.replace(/[?#].*$/, '');

/** Files that Node loads without compilation here. */
const uncompiledFiles = new Set<string>();

/** Node's syntax errors of ES modules lack the position, so the compiler is run to find it. Returns the better error. */
export function explainSyntaxError(error: unknown): unknown {
  // A stack with a caret line already shows the position.
  if (!(error instanceof SyntaxError) || /^[ :]*\^/m.test(error.stack ?? '')) return error;
  for (const file of [...uncompiledFiles].reverse())
    try {
      const text = readTextFile(file);
      if (hasModuleSyntax(text)) transform(file, text, 'module');
    } catch (explained) {
      if (explained instanceof SyntaxError) return explained;
    }
  return error;
}

// Module state is correct here: hooks belong to the process, not to a server.
let registered = false;

/** Registers the hooks. Repeated calls have no effect. */
export function registerModuleHooks(): void {
  if (registered) return;
  registered = true;
  defineDecoratorHelpers();
  defineEntering();
  enterRequired();
  registerHooks({ resolve, load });
  // Source maps make stacks show the user's lines. Packages are excluded: their maps cost time and sources are rare.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  if (!isBuilt) compileCommonJsHere();
}

/** Files that are required load within the code that requires them, which goes on as before. */
function enterRequired(): void {
  const { prototype } = Module as unknown as { prototype: { load(file: string): void } };
  const { load: loadFile } = prototype;
  prototype.load = function (file) {
    whileLoading(file, () => loadFile.call(this, file));
  };
}

type Compile = (module: CommonJsModule, file: string) => void;
type CommonJsModule = { _compile(source: string, file: string, format: LoadedSource['format']): void };

/**
 * Restores compilation by these hooks when tsx runs the unbuilt program: tsx replaces Node's CommonJS compilation and
 * bypasses `load` hooks. Own modules are included, so that `require` and `import` share one instance.
 */
function compileCommonJsHere(): void {
  const { _extensions: extensions } = Module as unknown as { _extensions: Record<string, Compile> };
  for (const extension of ['.js', '.jsx', '.cjs', '.ts', '.tsx', '.mts', '.cts']) {
    const compileByTsx = extensions[extension] ?? extensions['.js']!;
    extensions[extension] = (module, file) => {
      const { href } = pathToFileURL(file);
      if (isUserFile(href)) noteFile(file);
      const loaded = isUserFile(href) || isOwnModule(href) ? loadSource(file) : undefined;
      if (loaded === undefined) compileByTsx(module, file);
      else module._compile(loaded.source, file, loaded.format);
    };
  }
}
