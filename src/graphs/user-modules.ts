/**
 * Imports modules of user projects: graphs, auth handlers. The first import that needs them registers, once per thread, a
 * loader for TypeScript and the hooks of `user-module-hooks.ts`. Both live in a thread of their own, so projects that
 * are JavaScript as Node knows it do without.
 */
import { existsSync } from 'node:fs';
import Module, { register } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isBuilt, ownModule } from '../kernel/own-modules.ts';
import { RESOLVES_FOR_OTHERS } from '../kernel/worker.ts';
import { FROM, ownExports } from './user-module-hooks.ts';

type ResolveFilename = (request: string, ...rest: unknown[]) => string;

// Of the thread, not of a server: loaders reach all that is imported in it.
let registered: Promise<void> | undefined;

async function registerLoaders(): Promise<void> {
  // What runs unbuilt is TypeScript itself, so its loader is there.
  const loaders = isBuilt ? [await import('tsx/esm/api'), await import('tsx/cjs/api')] : [];
  // From version 26 on Node warns of such hooks at each start, which is nothing that its reader could change.
  const { noDeprecation = false } = process;
  process.noDeprecation = true;
  for (const loader of loaders) loader.register();
  register(ownModule('graphs/user-module-hooks').href);
  process.noDeprecation = noDeprecation;
  // `require` does not ask the hooks thread, so CommonJS files need the same fallback here.
  const resolver = Module as unknown as { _resolveFilename: ResolveFilename };
  const resolveFilename = resolver._resolveFilename;
  resolver._resolveFilename = (request, ...rest) => {
    const fallback = ownExports.get(request);
    if (fallback === undefined) return resolveFilename(request, ...rest);
    try {
      return resolveFilename(request, ...rest);
    } catch {
      return fileURLToPath(fallback);
    }
  };
}

/**
 * The exports of a user's file (absolute path); those of a CommonJS module are found by name as well. Rejects with
 * whatever the module throws.
 */
export async function importUserModule(file: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(file);
  if (registered === undefined && isPlain(file))
    try {
      return toExports(await import(href));
    } catch {
      // Perhaps it names modules as only a loader finds them; what is really wrong is told below. Node remembers what
      // failed by its address.
      await (registered ??= registerLoaders());
      return toExports(await import(`${href}?again`));
    }
  await (registered ??= registerLoaders());
  return toExports(await import(href));
}

/** Imports `specifier` as the file itself would, hence the very instance that the file uses. */
export async function importFrom(file: string, specifier: string): Promise<Record<string, unknown>> {
  if (registered === undefined && isPlain(file))
    return (await import(import.meta.resolve(specifier, pathToFileURL(file).href))) as Record<
      string,
      unknown
    >;
  await (registered ??= registerLoaders());
  const request = JSON.stringify([pathToFileURL(file).href, specifier]);
  return (await import(FROM + encodeURIComponent(request))) as Record<string, unknown>;
}

/** JavaScript of a project without TypeScript, in a thread that can resolve for other files without hooks. */
function isPlain(file: string): boolean {
  if (!isBuilt || !process.execArgv.includes(RESOLVES_FOR_OTHERS) || !/\.[cm]?js$/.test(file)) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if (existsSync(join(at, 'tsconfig.json'))) return false;
    if (existsSync(join(at, 'package.json')) || dirname(at) === at) return true;
  }
}

const toExports = (namespace: Record<string, unknown>): Record<string, unknown> => ({
  ...interopExports(namespace['default']),
  ...namespace,
});

/** Node names only those exports of a CommonJS module that it can see in the text; the rest hang on `default`. */
function interopExports(exported: unknown): Record<string, unknown> {
  if (typeof exported !== 'object' || exported === null) return {};
  const prototype: unknown = Object.getPrototypeOf(exported);
  return prototype === Object.prototype || prototype === null ? (exported as Record<string, unknown>) : {};
}
