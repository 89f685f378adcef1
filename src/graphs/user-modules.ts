/**
 * Imports modules of user projects: graphs, auth handlers. TypeScript needs `--import tsx`; what the hooks add to it
 * is listed in `user-module-hooks.ts`. Importing this module registers them, once per process.
 */
import Module, { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FROM, ownExports } from './user-module-hooks.ts';

register('./user-module-hooks.ts', import.meta.url);

// `require` does not ask the hooks thread, so CommonJS files need the same fallback here.
type ResolveFilename = (request: string, ...rest: unknown[]) => string;
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

/**
 * The exports of a user's file (absolute path); those of a CommonJS module are found by name as well. Rejects with
 * whatever the module throws.
 */
export async function importUserModule(file: string): Promise<Record<string, unknown>> {
  const namespace = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return { ...interopExports(namespace['default']), ...namespace };
}

/** Imports `specifier` as the file itself would, hence the very instance that the file uses. */
export async function importFrom(file: string, specifier: string): Promise<Record<string, unknown>> {
  const request = JSON.stringify([pathToFileURL(file).href, specifier]);
  return (await import(FROM + encodeURIComponent(request))) as Record<string, unknown>;
}

/** Node names only those exports of a CommonJS module that it can see in the text; the rest hang on `default`. */
function interopExports(exported: unknown): Record<string, unknown> {
  if (typeof exported !== 'object' || exported === null) return {};
  const prototype: unknown = Object.getPrototypeOf(exported);
  return prototype === Object.prototype || prototype === null ? (exported as Record<string, unknown>) : {};
}
