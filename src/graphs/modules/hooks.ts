/**
 * Module hooks for the code of user projects, in the thread that imports it. They leave packages and this program's own
 * modules to Node, and do three things for other files:
 *
 * 1. The exports of this package resolve from any folder, to the instance that this program itself uses.
 * 2. Specifiers resolve as a bundler for TypeScript resolves them (resolve.ts).
 * 3. TypeScript, JSX and JSON become JavaScript of the format that the file's place and text ask for (source.ts).
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire, registerHooks, setSourceMapsSupport } from 'node:module';
import type { LoadHookSync, ResolveHookSync } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isBuilt, isOwnModule, ownModule } from '../../kernel/own-modules.ts';
import { PRODUCT } from '../../kernel/product.ts';
import { defineDecoratorHelpers } from './decorators.ts';
import { isTypeScript } from './extensions.ts';
import { hasModuleSyntax } from './format.ts';
import { noteFile } from './loaded-files.ts';
import { resolveUserModule } from './resolve.ts';
import { forgetProjectSettings } from './settings.ts';
import { jsonModule, loadSource, type LoadedSource } from './source.ts';
import { transform } from './transform.ts';

/** The exports of this package that projects import, as its package.json names them: specifier to file URL. */
export const ownExports: ReadonlyMap<string, string> = new Map([
  [PRODUCT, ownModule('auth/auth').href],
  [`${PRODUCT}/auth`, ownModule('auth/auth').href],
]);

/** `rewound-from:[parent, specifier]` resolves as if `parent` had written the import. */
const FROM = `${PRODUCT}-from:`;

export const specifierFrom = (parent: URL, specifier: string): string =>
  FROM + encodeURIComponent(JSON.stringify([parent.href, specifier]));

const resolve: ResolveHookSync = (specifier, context, next) => {
  const found = resolvePlace(specifier, context, next);
  if (generation === 0 || context.conditions.includes('require') || !isUserFile(found.url)) return found;
  const mark = `${PRODUCT}=${generation}`;
  return { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}${mark}` };
};

/** Node keeps a module for as long as the thread lives, by its address: a later generation has other addresses. */
let generation = 0;

/** Files of the project that are imported from now on are loaded anew, whether they changed or not. */
export function forgetModules(): void {
  generation += 1;
  forgetProjectSettings();
  const { cache } = createRequire(import.meta.url);
  for (const file of Object.keys(cache)) if (isUserFile(pathToFileURL(file).href)) delete cache[file];
}

const resolvePlace: ResolveHookSync = (specifier, context, next) => {
  if (specifier.startsWith(FROM)) {
    const request = decodeURIComponent(specifier.slice(FROM.length));
    const [parentURL, wanted] = JSON.parse(request) as [string, string];
    return resolvePlace(wanted, { ...context, parentURL }, next);
  }
  const own = ownExports.get(specifier);
  if (own !== undefined) return { url: own, shortCircuit: true };
  const { parentURL } = context;
  return parentURL !== undefined && isUserFile(parentURL)
    ? resolveUserModule(specifier, { ...context, parentURL }, next)
    : next(specifier, context);
};

const load: LoadHookSync = (url, context, next) => {
  if (!isUserFile(url)) return next(url, context);
  const isImport = !context.conditions.includes('require');
  const file = fileURLToPath(withoutQuery(url));
  noteFile(file);
  if (file.endsWith('.json')) {
    // Node requires an attribute `type`; compilers that resolve JSON do not, so files leave it out.
    if (!isImport || context.importAttributes['type'] !== undefined) return next(url, context);
    return { format: 'module', source: jsonModule(file), shortCircuit: true };
  }
  const loaded = loadSource(file);
  if (loaded === undefined) asWritten.add(file);
  return loaded === undefined ? next(url, context) : { ...loaded, shortCircuit: true };
};

/** A package's JavaScript is as its author published it; TypeScript in a package can only be meant for a loader. */
function isUserFile(url: string): boolean {
  if (!url.startsWith('file:') || isOwnModule(url)) return false;
  return !url.includes('/node_modules/') || isTypeScript(withoutQuery(url));
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/, '');

/** Files that Node compiles as they are. */
const asWritten = new Set<string>();

/** Node does not say where an ES module has a syntax error, the compiler for TypeScript does. */
export function explainSyntaxError(error: unknown): unknown {
  // A caret stands below the place where it is known.
  if (!(error instanceof SyntaxError) || /^[ :]*\^/m.test(error.stack ?? '')) return error;
  for (const file of [...asWritten].reverse())
    try {
      const text = readFileSync(file, 'utf8');
      if (hasModuleSyntax(text)) transform(file, text, 'module');
    } catch (explained) {
      if (explained instanceof SyntaxError) return explained;
    }
  return error;
}

// Hooks belong to the thread, not to a server.
let registered = false;

/** Registers the hooks, once per thread. */
export function registerModuleHooks(): void {
  if (registered) return;
  registered = true;
  defineDecoratorHelpers();
  registerHooks({ resolve, load });
  // Stacks name the lines that the user wrote. Maps of packages would cost time, and their sources are rarely there.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  if (!isBuilt) compileCommonJsHere();
}

type Compile = (module: CommonJsModule, file: string) => void;
type CommonJsModule = { _compile(source: string, file: string, format: LoadedSource['format']): void };

/**
 * tsx runs this program unbuilt and replaces how Node compiles CommonJS files, without asking any `load` hook. Files
 * that are loaded here are compiled here again, this program's own modules among them: `require` then finds the instance
 * that was imported.
 */
function compileCommonJsHere(): void {
  const { _extensions: extensions } = Module as unknown as { _extensions: Record<string, Compile> };
  for (const extension of ['.js', '.jsx', '.cjs', '.ts', '.tsx', '.mts', '.cts']) {
    const other = extensions[extension] ?? extensions['.js']!;
    extensions[extension] = (module, file) => {
      const { href } = pathToFileURL(file);
      if (isUserFile(href)) noteFile(file);
      const loaded = isUserFile(href) || isOwnModule(href) ? loadSource(file) : undefined;
      if (loaded === undefined) other(module, file);
      else module._compile(loaded.source, file, loaded.format);
    };
  }
}
