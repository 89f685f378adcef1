/** Imports modules of user projects: graphs, auth handlers, applications, embedding functions. */
import { pathToFileURL } from 'node:url';
import { explainSyntaxError, registerModuleHooks, specifierFrom } from './modules/hooks.ts';

/**
 * The exports of a user's file (absolute path); those of a CommonJS module are found by name as well. Rejects with
 * whatever the module throws.
 */
export async function importUserModule(file: string): Promise<Record<string, unknown>> {
  registerModuleHooks();
  let namespace: Record<string, unknown>;
  try {
    namespace = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw explainSyntaxError(error);
  }
  return { ...interopExports(namespace['default']), ...namespace };
}

/** Imports `specifier` as the file itself would, hence the very instance that the file uses. */
export async function importFrom(file: string, specifier: string): Promise<Record<string, unknown>> {
  registerModuleHooks();
  return (await import(specifierFrom(pathToFileURL(file), specifier))) as Record<string, unknown>;
}

/** Node names only those exports of a CommonJS module that it can see in the text; the rest hang on `default`. */
function interopExports(exported: unknown): Record<string, unknown> {
  if (typeof exported !== 'object' || exported === null) return {};
  const prototype: unknown = Object.getPrototypeOf(exported);
  return prototype === Object.prototype || prototype === null ? (exported as Record<string, unknown>) : {};
}
