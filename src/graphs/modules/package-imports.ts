/**
 * Resolves relative imports between the ES modules of a package as Node does, which for each of them parses all exports of
 * the package's package.json: half of the processor time that loading a graph library takes.
 */
import { existsSync, realpathSync } from 'node:fs';
import type { ResolveFnOutput, ResolveHookContext } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageType, type ModuleFormat } from './format.ts';

/** Specifiers without characters that URLs escape or interpret. */
const RELATIVE = /^\.\.?\/[\w./@-]+\.([cm]?)js$/;

/** Undefined where Node has to resolve: no such import, no such file, a package without `type`. */
export function resolvePackageImport(
  specifier: string,
  { parentURL, conditions }: ResolveHookContext,
): ResolveFnOutput | undefined {
  if (parentURL === undefined || !parentURL.includes('/node_modules/')) return undefined;
  const extension = RELATIVE.exec(specifier)?.[1];
  if (extension === undefined || conditions.includes('require')) return undefined;
  try {
    const file = realpathSync.native(fileURLToPath(new URL(specifier, parentURL)));
    const format = FORMATS[extension] ?? typeOf(dirname(file));
    return format && { url: pathToFileURL(file).href, format, shortCircuit: true };
  } catch {
    // Node's own error names the import.
    return undefined;
  }
}

const FORMATS: Readonly<Record<string, ModuleFormat>> = { m: 'module', c: 'commonjs' };

/** Types of packages by folder. Node reads each package.json once, too. */
const types = new Map<string, ModuleFormat | undefined>();

function typeOf(folder: string): ModuleFormat | undefined {
  if (types.has(folder)) return types.get(folder);
  const file = join(folder, 'package.json');
  const isScope = existsSync(file);
  const type = isScope
    ? packageType(file)
    : basename(folder) === 'node_modules'
      ? undefined
      : typeOf(dirname(folder));
  types.set(folder, type);
  return type;
}
