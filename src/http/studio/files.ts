/** Files of the browser application: from the build, or bundled when the program runs from its sources. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../kernel/digest.ts';
import { buildScript, builtFolder, isBuilt } from '../../kernel/own-modules.ts';

type Bytes = Uint8Array<ArrayBuffer>;

interface StudioFile {
  readonly type: string;
  readonly etag: string;
  /** The content by its encoding; `identity` always exists. */
  readonly encoded: ReadonlyMap<string, Bytes>;
}

/** Files by their path below `/studio/`. */
export type StudioFiles = ReadonlyMap<string, StudioFile>;

const PAGE = 'index.html';
const ENCODINGS: Readonly<Record<string, string>> = { '.br': 'br', '.gz': 'gzip' };
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

interface RawFile {
  readonly path: string;
  readonly bytes: Bytes;
}

/** Reads all files; the page, under the name '', refers to the others below `prefix`. */
export async function loadStudio(prefix: string): Promise<StudioFiles> {
  const raw = isBuilt ? await readBuild() : await bundle();
  const files = new Map<string, { type: string; etag: string; encoded: Map<string, Bytes> }>();
  // Compressed files sort behind the one that they belong to.
  for (const { path, bytes } of raw.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const encoding = ENCODINGS[path.slice(-3)];
    if (encoding !== undefined) files.get(path.slice(0, -3))?.encoded.set(encoding, bytes);
    else files.set(path, toFile(path, bytes));
  }
  const page = raw.find(({ path }) => path === PAGE)!;
  const text = Buffer.from(page.bytes).toString().replace('href="/studio/"', `href="${prefix}/studio/"`);
  files.delete(PAGE);
  return files.set('', toFile(PAGE, Buffer.from(text)));
}

const toFile = (path: string, bytes: Bytes) => ({
  type: TYPES[path.split('.').at(-1)!] ?? 'application/octet-stream',
  etag: `"${sha256(bytes)}"`,
  encoded: new Map([['identity', bytes]]),
});

async function readBuild(): Promise<RawFile[]> {
  const folder = fileURLToPath(builtFolder('studio'));
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.includes('.'));
  return Promise.all(
    names.map(async (name) => ({
      path: name.replaceAll('\\', '/'),
      bytes: await readFile(join(folder, name)),
    })),
  );
}

async function bundle(): Promise<RawFile[]> {
  const builder = (await import(buildScript('build-studio.mjs').href)) as {
    bundleStudio(): Promise<RawFile[]>;
  };
  return builder.bundleStudio();
}
