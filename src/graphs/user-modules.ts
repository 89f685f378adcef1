/** Imports modules of user projects: graphs, auth handlers, applications, embedding functions. */
import { pathToFileURL } from 'node:url';
import { publishSdkLogger } from './sdk-logger.ts';
import { explainSyntaxError, registerModuleHooks, specifierFrom } from './modules/hooks.ts';

/**
 * The exports of a user's file (absolute path); those of a CommonJS module are found by name as well. Rejects with
 * whatever the module throws.
 */
export async function importUserModule(file: string): Promise<Record<string, unknown>> {
  publishSdkLogger();
  registerModuleHooks();
  let namespace: Record<string, unknown>;
  try {
    namespace = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw explainSyntaxError(error);
  }
  const exported = commonJsExports(namespace);
  // A compiler marked the module: its default is the one that the file exports.
  return exported['__esModule'] === true ? { ...exported } : { ...exported, ...namespace };
}

/** Imports `specifier` as the file itself would, hence the very instance that the file uses. */
export async function importFrom(file: string, specifier: string): Promise<Record<string, unknown>> {
  registerModuleHooks();
  return (await import(specifierFrom(pathToFileURL(file), specifier))) as Record<string, unknown>;
}

/** Node names only those exports of a CommonJS module that it can see in the text, and calls the module its default. */
function commonJsExports(namespace: Record<string, unknown>): Record<string, unknown> {
  const exported = namespace['default'];
  if (typeof exported !== 'object' || exported === null) return {};
  const prototype: unknown = Object.getPrototypeOf(exported);
  return prototype === Object.prototype || prototype === null ? (exported as Record<string, unknown>) : {};
}
