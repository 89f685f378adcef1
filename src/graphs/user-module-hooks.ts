/**
 * Resolve hook for the modules of user projects; runs in Node's hooks thread, where it was registered by
 * `user-modules.ts`. It adds to whatever loader is active (tsx):
 *
 * 1. `rewound/auth` and the other exports of this package resolve from any folder, installed there or not.
 * 2. A `.ts` or `.js` file with ESM syntax whose folder says nothing (no `type` in package.json) is an ES module, so
 *    that top-level await works and the file gets the same copy of its libraries as every other ES module.
 * 3. `rewound-from:[parent, specifier]` resolves as if `parent` had written the import.
 */
import type { ResolveHook } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';
import { ownModule } from '../kernel/own-modules.ts';
import { PRODUCT } from '../kernel/product.ts';

/** The exports of this package that projects import, as its package.json names them: specifier to file URL. */
export const ownExports: ReadonlyMap<string, string> = new Map([
  [`${PRODUCT}/auth`, ownModule('auth/auth').href],
]);

export const FROM = `${PRODUCT}-from:`;

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier.startsWith(FROM)) {
    const [parentURL, wanted] = JSON.parse(decodeURIComponent(specifier.slice(FROM.length))) as [
      string,
      string,
    ];
    return resolve(wanted, { ...context, parentURL }, next);
  }
  const own = ownExports.get(specifier);
  let found;
  try {
    found = await next(specifier, context);
  } catch (error) {
    if (own === undefined) throw error;
    found = await next(own, context);
  }
  return found.format !== 'module' && isUnmarkedModule(found.url) ? { ...found, format: 'module' } : found;
};

function isUnmarkedModule(url: string): boolean {
  if (!url.startsWith('file:') || url.includes('/node_modules/')) return false;
  const file = fileURLToPath(new URL(url));
  if (!/\.(?:ts|tsx|js|jsx)$/.test(file) || !existsSync(file) || packageType(dirname(file)) !== undefined)
    return false;
  const source = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  // Code that mixes in CommonJS names was written for a compiler that emits CommonJS: it would break as a module.
  return (
    /^\s*(?:import|export)\b/m.test(source) &&
    !/\b(?:require\s*\(|module\.exports|exports\.|__dirname|__filename)/.test(source)
  );
}

/** The `type` of the nearest package.json, as Node looks for it. */
function packageType(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, 'package.json');
    if (existsSync(file)) {
      const { type } = JSON.parse(readFileSync(file, 'utf8')) as { type?: unknown };
      return typeof type === 'string' ? type : undefined;
    }
    if (dirname(at) === at) return undefined;
  }
}
