/** Bundles the program: entries keep their paths below the folder, shared code goes into `chunks`. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStudioInto } from './build-studio.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const SOURCES = join(ROOT, 'src');

/**
 * The program and the modules that it starts or imports by URL (src/kernel/own-modules.ts). Entries of a group share
 * chunks: a graph worker loads 6 files where one group for all would make it 37.
 */
const GROUPS = [
  [
    'main',
    'auth/auth',
    'graphs/schemas/source-entry',
    'store/sqlite/reader-entry',
    'store/postgres/renewal-entry',
    'past/reexecution/child-entry',
    'past/reexecution/closed-entry',
    'store/sql/rows/projection',
  ],
  ['worker/lifeline', 'worker/entry'],
];

/**
 * zod is bundled, without its texts in other languages: Node finds its 95 modules one by one, which takes 100 ms of
 * processor time of each start; these take 30 ms.
 */
const ZOD = join(ROOT, 'node_modules/zod');
const englishOnly = {
  name: 'zod in English',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
    })),
};

/** Returns the names of all modules that are not bundled and that Node resolves, and the size of the studio as gzip. */
export async function buildInto(folder) {
  // Imported dynamically: a start with an existing build does not load the compiler.
  const { build, stop } = await import('esbuild');
  const bundle = (names) =>
    build({
      entryPoints: names.map((name) => join(SOURCES, `${name}.ts`)),
      outbase: SOURCES,
      outdir: folder,
      chunkNames: 'chunks/[name]-[hash]',
      bundle: true,
      splitting: true,
      packages: 'external',
      alias: { zod: join(ZOD, 'index.js') },
      plugins: [englishOnly],
      format: 'esm',
      platform: 'node',
      target: 'node24',
      logLevel: 'warning',
      metafile: true,
    });
  const [studioBytes, ...built] = await Promise.all([
    buildStudioInto(join(folder, 'studio')),
    ...GROUPS.map(bundle),
  ]).finally(stop); // Otherwise esbuild's process of about 60 MB lives as long as the program.
  // Node looks for the format of each module in its source otherwise.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  cpSync(join(ZOD, 'LICENSE'), join(folder, 'zod.LICENSE'));
  const outputs = built.flatMap(({ metafile }) => Object.values(metafile.outputs));
  const imports = outputs.flatMap((output) => output.imports);
  const packages = [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))].sort();
  return { packages, studioBytes };
}
