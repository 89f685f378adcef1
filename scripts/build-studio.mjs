/**
 * Bundles the browser application of `src/studio`. Names of scripts and styles contain a hash of their content, so
 * that browsers keep them; `index.html` names them.
 */
import { readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const SOURCES = fileURLToPath(new URL('../src/studio', import.meta.url));
const MAX_GZIP_BYTES = 150 * 1024;
/** Line of `index.html` that the tags of the bundle replace. */
const TAGS = '<!-- scripts and styles -->';

/** Returns all files of the application as `{ path, bytes }`. */
export async function bundleStudio() {
  const { build } = await import('esbuild');
  const { metafile, outputFiles } = await build({
    entryPoints: [join(SOURCES, 'index.tsx')],
    tsconfig: join(SOURCES, 'tsconfig.json'),
    outdir: SOURCES,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  const files = outputFiles.map(({ path, contents }) => ({
    path: relative(SOURCES, path).replaceAll('\\', '/'),
    bytes: contents,
  }));
  const isEntry = ({ entryPoint }) => entryPoint?.endsWith('src/studio/index.tsx');
  const [script, { cssBundle }] = Object.entries(metafile.outputs).find(([, output]) => isEntry(output));
  const linkOf = (path) => `assets/${path.split('/').at(-1)}`;
  const tags = [
    `<script type="module" src="${linkOf(script)}"></script>`,
    ...(cssBundle === undefined ? [] : [`<link rel="stylesheet" href="${linkOf(cssBundle)}" />`]),
  ];
  const page = readFileSync(join(SOURCES, 'index.html'), 'utf8').replace(TAGS, tags.join('\n    '));
  return [{ path: 'index.html', bytes: Buffer.from(page) }, ...files];
}

/** Writes the application with `.gz` and `.br` beside each file, and returns its size as gzip. */
export async function buildStudioInto(folder) {
  let size = 0;
  for (const { path, bytes } of await bundleStudio()) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    const gzip = gzipSync(bytes, { level: 9 });
    size += gzip.length;
    writeFileSync(file, bytes);
    writeFileSync(`${file}.gz`, gzip);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  }
  if (size > MAX_GZIP_BYTES)
    throw new Error(`src/studio: found ${size} bytes of gzip, expected at most ${MAX_GZIP_BYTES}`);
  return size;
}
