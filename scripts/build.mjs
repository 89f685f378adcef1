/** Bundles the program: each entry at its place below the folder, what entries share in `chunks`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const SOURCES = join(ROOT, 'src');

/** The program, and what it starts or imports by address (src/kernel/own-modules.ts). */
const ENTRIES = [
  'main',
  'sql-functions',
  'auth/auth',
  'graphs/schemas/source-entry',
  'log/sqlite/reader-entry',
  'log/sqlite/rebuild-entry',
  'projections/projection',
  'worker/lifeline',
  'worker/main',
];

/** Returns the names of all modules that the bundle leaves to Node to find. */
export async function buildInto(folder) {
  // Imported here: a start whose build exists does not load the compiler.
  const { build, stop } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: ENTRIES.map((name) => join(SOURCES, `${name}.ts`)),
    outbase: SOURCES,
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    metafile: true,
  }).finally(stop); // Its process would live as long as the program that starts here, with some 60 MB.
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))].sort();
}
