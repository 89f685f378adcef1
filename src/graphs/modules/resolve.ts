/**
 * Resolves imports of user projects: `paths` and `baseUrl` of the nearest tsconfig.json, `.js` specifiers of `.ts` files,
 * missing extensions, folders. Node resolves the rest.
 */
import { realpathSync, statSync } from 'node:fs';
import { isBuiltin, type ResolveFnOutput, type ResolveHookContext } from 'node:module';
import { dirname, extname, join, resolve as resolvePath } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isTypeScript, OPTIONAL, SOURCES_OF } from './extensions.ts';
import { findProjectSettings } from './settings.ts';
import { readTextFile } from '../../kernel/text-file.ts';

type Context = ResolveHookContext & { parentURL: string };
type Next = (specifier: string, context: ResolveHookContext) => ResolveFnOutput;

export function resolveUserModule(specifier: string, context: Context, next: Next): ResolveFnOutput {
  if (isBuiltin(specifier) || /^(?!file:)[a-z][a-z\d+.-]+:/i.test(specifier)) return next(specifier, context);
  const parent = fileURLToPath(context.parentURL.replace(/[?#].*$/, ''));
  const isWritten = isTypeScript(parent);
  // `realpathSync` makes a symlinked file one module. `next` is not called, because for `require` it accepts no URL.
  const accept = (file: string, query = ''): ResolveFnOutput => ({
    url: pathToFileURL(realpathSync(file)).href + query,
    shortCircuit: true,
  });

  if (/^(?:\.\.?(?:\/|$)|\/|file:)/.test(specifier)) {
    const { path, query } = locate(specifier, parent, context);
    const file = findFile(path, isWritten);
    return file === undefined ? next(specifier, context) : accept(file, query);
  }
  const settings = findProjectSettings(parent);
  if (isWritten || settings.allowJs)
    for (const path of settings.pathsOf(specifier)) {
      const file = findFile(path, isWritten);
      if (file !== undefined) return accept(file);
    }
  try {
    return next(specifier, context);
  } catch (error) {
    // A package may be imported by a path without extension, or export a file that was not built.
    const { url } = Object(error) as { url?: unknown };
    const file = typeof url === 'string' ? findFile(fileURLToPath(url), isWritten) : undefined;
    if (file === undefined) throw error;
    return accept(file);
  }
}

function locate(specifier: string, parent: string, { parentURL, conditions }: Context) {
  if (conditions.includes('require') && !specifier.startsWith('file:'))
    return { path: resolvePath(dirname(parent), specifier), query: '' };
  const url = new URL(specifier, parentURL);
  return { path: fileURLToPath(new URL(url.pathname, url)), query: url.search + url.hash };
}

/** Finds the file of an import path. `sourcesFirst`, for TypeScript importers, prefers `a.ts` over an existing `a.js`. */
export function findFile(path: string, sourcesFirst: boolean): string | undefined {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const sources = (SOURCES_OF[extension] ?? []).map((other) => stem + other);
  const exact = sourcesFirst ? [...sources, path] : [path, ...sources];
  const found = [...exact, ...OPTIONAL.map((other) => path + other)].find(isFile);
  if (found !== undefined || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return found;
  const main = mainOf(path);
  return (
    (main === undefined ? undefined : findFile(join(path, main), sourcesFirst)) ??
    OPTIONAL.map((other) => join(path, `index${other}`)).find(isFile)
  );
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

function mainOf(folder: string): string | undefined {
  const file = join(folder, 'package.json');
  if (!isFile(file)) return undefined;
  const { main } = JSON.parse(readTextFile(file)) as { main?: unknown };
  return typeof main === 'string' && join(folder, main) !== folder ? main : undefined;
}
