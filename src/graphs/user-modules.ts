/** Imports modules of user projects: graphs, auth handlers, applications, embedding functions. */
import { pathToFileURL } from 'node:url';
import { publishSdkLogger } from './sdk-logger.ts';
import { loadCompiler } from './modules/compiler.ts';
import { explainSyntaxError, registerModuleHooks, specifierFrom } from './modules/hooks.ts';

/**
 * Imports a user's file (absolute path) and returns its exports, those of a CommonJS module by name too. Rejects with
 * the error that the module throws.
 */
export async function importUserModule(file: string): Promise<Record<string, unknown>> {
  publishSdkLogger();
  await loadCompiler();
  registerModuleHooks();
  let namespace: Record<string, unknown>;
  try {
    namespace = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw explainSyntaxError(error);
  }
  const exported = commonJsExports(namespace);
  // Compiled ES modules have `__esModule`: their own `default` replaces Node's default, which is `module.exports`.
  return exported['__esModule'] === true ? { ...exported } : { ...exported, ...namespace };
}

/** Imports `specifier` as resolved from `file`, so the result is the module instance that the file uses. */
export async function importFrom(file: string, specifier: string): Promise<Record<string, unknown>> {
  await loadCompiler();
  registerModuleHooks();
  return (await import(specifierFrom(pathToFileURL(file), specifier))) as Record<string, unknown>;
}

/** All exports of a CommonJS module. Node's namespace has only statically detected names, and `module.exports` as default. */
function commonJsExports(namespace: Record<string, unknown>): Record<string, unknown> {
  const exported = namespace['default'];
  if (typeof exported !== 'object' || exported === null) return {};
  const prototype: unknown = Object.getPrototypeOf(exported);
  return prototype === Object.prototype || prototype === null ? (exported as Record<string, unknown>) : {};
}
