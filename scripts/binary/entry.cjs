/**
 * The main script of the single executable. It unpacks the program once into the user's cache folder and runs it from
 * there, so user code, worker processes and addons load as usual.
 *
 * `REWOUND_RUN_AS_NODE` makes the executable run the script in its first argument, like Node. The program sets it for
 * its child processes, so scripts that graph code starts with `process.execPath` or `node` run too.
 */
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const { join, dirname, resolve } = require('node:path');
const { getRawAsset, getAsset } = require('node:sea');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { zstdDecompressSync } = require('node:zlib');

const PRODUCT = 'rewound';
const RUN_AS_NODE = 'REWOUND_RUN_AS_NODE';
const EXIT_USAGE = 2;
const EXIT_UNTRIED = 3;
const OWNER_ONLY = 0o700;

/** Imports with the loader of ordinary files: `import()` in this script resolves only built-in modules. */
function load(file) {
  const { emitWarning } = process;
  // Hides Node's warning about an experimental option, which users cannot influence.
  process.emitWarning = () => undefined;
  const importFile = new vm.Script('(url) => import(url)', {
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }).runInThisContext();
  const loading = importFile(pathToFileURL(file).href);
  process.emitWarning = emitWarning;
  return loading;
}

/** Returns candidate cache folders of the user, in order of preference. */
function cacheFolders() {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env;
  const user = process.getuid ? process.getuid() : os.userInfo().username;
  return [
    XDG_CACHE_HOME && join(XDG_CACHE_HOME, PRODUCT),
    LOCALAPPDATA && join(LOCALAPPDATA, PRODUCT),
    HOME && join(HOME, '.cache', PRODUCT),
    join(os.tmpdir(), `${PRODUCT}-${user}`),
  ].filter(Boolean);
}

/** Throws if another user owns the folder or may write to it, and could have replaced the program. */
function assertOwn(folder) {
  if (!process.getuid) return;
  const { uid, mode } = fs.lstatSync(folder);
  if (uid === process.getuid() && (mode & 0o077) === 0) return;
  throw new Error(`found a folder that other users may change, expected one of this user with mode 0700`);
}

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Unpacks the archive: 4 bytes with the length of a JSON list of paths and sizes, the list, the files in order. */
function extract(folder) {
  const packed = Buffer.from(getRawAsset('program'));
  const bytes = zstdDecompressSync(packed);
  const length = bytes.readUInt32BE(0);
  let at = 4 + length;
  for (const { path, size } of JSON.parse(bytes.subarray(4, at).toString())) {
    const file = join(folder, path);
    fs.mkdirSync(dirname(file), { recursive: true, mode: OWNER_ONLY });
    fs.writeFileSync(file, bytes.subarray(at, at + size));
    at += size;
  }
}

/** Checks the digests of addons at every start: a truncated addon would crash the process. */
function isWhole(folder) {
  try {
    const addons = JSON.parse(getAsset('addons', 'utf8'));
    return addons.every(({ path, digest }) => digestOf(fs.readFileSync(join(folder, path))) === digest);
  } catch {
    return false;
  }
}

function prepareIn(base) {
  fs.mkdirSync(base, { recursive: true, mode: OWNER_ONLY });
  assertOwn(base);
  const folder = join(base, getAsset('digest', 'utf8'));
  if (isWhole(folder)) return folder;
  const unfinished = fs.mkdtempSync(join(base, '.unfinished-'));
  try {
    extract(unfinished);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(unfinished, folder);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    // Another process may have unpacked it first.
    if (!isWhole(folder)) throw error;
  }
  return folder;
}

/** Returns the folder of the program. Exits if no folder is writable. */
function prepare() {
  const failures = [];
  for (const base of cacheFolders()) {
    try {
      return prepareIn(base);
    } catch (error) {
      failures.push(`${base}: ${error.message}`);
    }
  }
  console.error(
    `${PRODUCT}: found no folder to unpack the program into; set XDG_CACHE_HOME to one that this user owns\n` +
      failures.join('\n'),
  );
  process.exit(EXIT_UNTRIED);
}

/** Returns a folder with a link `node` to this executable. */
function linkNode(folder) {
  const bin = join(folder, 'node-bin');
  const link = join(bin, process.platform === 'win32' ? 'node.exe' : 'node');
  fs.mkdirSync(bin, { recursive: true, mode: OWNER_ONLY });
  try {
    if (fs.readlinkSync(link) === process.execPath) return bin;
  } catch {
    // The link does not exist yet.
  }
  const fresh = `${link}.${process.pid}`;
  fs.symlinkSync(process.execPath, fresh);
  fs.renameSync(fresh, link);
  return bin;
}

// `argv[1]` is the executable again, or the path that it was called by.
const [, , ...args] = process.argv;
if (process.env[RUN_AS_NODE] === '1') {
  // Restores NODE_OPTIONS, so that child processes do not inherit options of this process.
  const { REWOUND_NODE_OPTIONS: options } = process.env;
  if (options !== undefined) process.env.NODE_OPTIONS = options;
  if (options === '') delete process.env.NODE_OPTIONS;
  delete process.env.REWOUND_NODE_OPTIONS;
  const index = args.findIndex((arg) => !arg.startsWith('-'));
  const script = args[index];
  if (script === undefined) {
    console.error(`${PRODUCT}: with ${RUN_AS_NODE}=1 found no script to run in: ${args.join(' ')}`);
    process.exit(EXIT_USAGE);
  }
  const file = resolve(script);
  process.argv = [process.execPath, file, ...args.slice(index + 1)];
  load(file);
} else {
  const folder = prepare();
  process.env[RUN_AS_NODE] = '1';
  process.env.REWOUND_NODE_BIN = linkNode(folder);
  process.argv = [process.execPath, join(folder, 'dist/main.js'), ...args];
  load(join(folder, 'dist/main.js'));
}
