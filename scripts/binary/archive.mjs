/** Builds the archive inside the executable: the built program, its packages and the addons of one platform. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { buildInto, ROOT } from '../build.mjs';

/** Higher levels take a minute and save 1 % of the executable. */
const COMPRESSION_LEVEL = 9;
const LOADED = /\.(?:js|cjs|mjs|json|node|wasm)$/;
/** Reading the types of graphs requires the compiler's declarations. */
const DECLARATIONS = /typescript\/lib\/lib\..*d\.ts$/;
const UNUSED =
  /better-sqlite3\/(?:deps|src)\/|typescript\/lib\/(?:_|tsserver|typingsInstaller|watchGuard|[a-z]{2}(?:-[a-z]+)?\/)|\/(?:test|tests|docs|benchmarks?)\//i;

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;

/** Returns folders of the packages that the program needs at run time, relative to the root. */
function runtimePackages() {
  const found = new Set();
  const add = (path) => {
    if (found.has(path) || !existsSync(join(ROOT, path))) return;
    found.add(path);
    const { dependencies, optionalDependencies } = lock[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) addFrom(path, name);
  };
  /** Resolves a package like Node: beside the package that needs it, then upwards. */
  const addFrom = (from, name) => {
    const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
    if (lock[path] !== undefined) add(path);
    else if (from !== '') addFrom(from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
  };
  for (const name of Object.keys(lock[''].dependencies)) addFrom('', name);
  return [...found];
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function filesOf(packageFolder) {
  return readdirSync(join(ROOT, packageFolder), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => {
      const path = join(ROOT, packageFolder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

/** `addons`: additional packages as `{ name, folder }`. Addons of other platforms are omitted. */
async function collect(target, scratch, addons) {
  const program = join(scratch, 'dist');
  await buildInto(program);
  const isNeeded = ({ path }) => {
    const platform = /(?:better-sqlite3\/prebuilds|@oxc-transform)\/(?:binding-)?([a-z0-9]+-[a-z0-9]+)/.exec(
      path,
    );
    if (platform !== null) return platform[1] === target;
    if (path.startsWith('dist')) return true;
    return !UNUSED.test(path) && (LOADED.test(path) || DECLARATIONS.test(path));
  };
  const files = [
    ...filesBelow(program).map((file) => ({ path: join('dist', relative(program, file)), file })),
    ...runtimePackages()
      .flatMap(filesOf)
      .map((file) => ({ path: relative(ROOT, file), file })),
    ...addons.flatMap(({ name, folder }) =>
      filesBelow(folder).map((file) => ({ path: join('node_modules', name, relative(folder, file)), file })),
    ),
  ].filter(isNeeded);
  const { name, version, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return [
    { path: 'package.json', bytes: Buffer.from(JSON.stringify({ name, version, type })) },
    ...files.map(({ path, file }) => ({ path, bytes: readFileSync(file) })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Returns the assets of the executable, which entry.cjs reads. */
export async function archive(target, scratch, addons) {
  const files = await collect(target, scratch, addons);
  const list = Buffer.from(JSON.stringify(files.map(({ path, bytes }) => ({ path, size: bytes.length }))));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  const whole = Buffer.concat([length, list, ...files.map(({ bytes }) => bytes)]);
  const program = zstdCompressSync(whole, {
    params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL },
  });
  const digests = files
    .filter(({ path }) => path.endsWith('.node'))
    .map(({ path, bytes }) => ({ path, digest: digestOf(bytes) }));
  return { program, digest: digestOf(program).slice(0, 16), addons: JSON.stringify(digests) };
}
