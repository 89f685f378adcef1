/**
 * Imports modules of user projects: graphs, auth handlers. The first import registers what these may need, once per
 * thread: a loader for TypeScript, and the hooks of `user-module-hooks.ts`.
 */
import Module, { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isBuilt, ownModule } from '../kernel/own-modules.ts';
import { FROM, ownExports } from './user-module-hooks.ts';

type ResolveFilename = (request: string, ...rest: unknown[]) => string;

// Of the thread, not of a server: loaders reach all that is imported in it.
let registered: Promise<void> | undefined;

async function registerLoaders(): Promise<void> {
  // What runs unbuilt is TypeScript itself, so its loader is there.
  if (isBuilt) {
    (await import('tsx/esm/api')).register();
    (await import('tsx/cjs/api')).register();
  }
  register(ownModule('graphs/user-module-hooks').href);
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
  await (registered ??= registerLoaders());
  const namespace = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return { ...interopExports(namespace['default']), ...namespace };
}

/** Imports `specifier` as the file itself would, hence the very instance that the file uses. */
export async function importFrom(file: string, specifier: string): Promise<Record<string, unknown>> {
  await (registered ??= registerLoaders());
  const request = JSON.stringify([pathToFileURL(file).href, specifier]);
  return (await import(FROM + encodeURIComponent(request))) as Record<string, unknown>;
}

/** Node names only those exports of a CommonJS module that it can see in the text; the rest hang on `default`. */
function interopExports(exported: unknown): Record<string, unknown> {
  if (typeof exported !== 'object' || exported === null) return {};
  const prototype: unknown = Object.getPrototypeOf(exported);
  return prototype === Object.prototype || prototype === null ? (exported as Record<string, unknown>) : {};
}
