/**
 * `npm run pack`: creates `dist/rewound-VERSION.tgz`, the package that users install: the built program, its launcher,
 * type declarations and its own manifest. The repository's `package.json` also names packages for build and test and a
 * Node binary, which would precede the user's own Node.
 */
import './bin/check-node.mjs';
import { execFileSync } from 'node:child_process';
import { builtinModules } from 'node:module';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildInto, ROOT } from './build.mjs';

const MAX_PACKAGE_BYTES = 2 * 2 ** 20;
const OUT = join(ROOT, 'dist');
const FOLDER = join(OUT, 'package');
const BUILTIN = new Set(builtinModules);

const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Throws when the program imports a package that the published manifest does not list. */
function checkDependencies(specifiers) {
  const names = specifiers
    .filter((path) => !path.startsWith('node:') && !BUILTIN.has(path))
    .map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)[0]);
  for (const packageName of names)
    if (own.dependencies[packageName] === undefined)
      throw new Error(
        `package.json: dependencies: found no "${packageName}", expected what the program imports; ` +
          `run "npm install ${packageName}"`,
      );
}

/** Writes type declarations beside the modules that projects import. */
function declareTypes() {
  const config = join(OUT, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: {
        ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
        ...{ rootDir: '../src', outDir: 'package/dist' },
      },
      ...{ files: ['../src/auth/auth.ts'], include: [] },
    }),
  );
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' });
}

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const { packages, studioBytes } = await buildInto(join(FOLDER, 'dist'));
checkDependencies(packages);
declareTypes();
cpSync(join(ROOT, 'scripts/bin'), join(FOLDER, 'bin'), { recursive: true });
const SCHEMA = 'src/config/platform.schema.json';
for (const file of ['README.md', SCHEMA]) cpSync(join(ROOT, file), join(FOLDER, file));
const { name, version, description, type, dependencies } = own;
const auth = { types: './dist/auth/auth.d.ts', default: './dist/auth/auth.js' };
const manifest = {
  ...{ name, version, description, type },
  license: 'UNLICENSED',
  engines: { node: '>=24' },
  bin: { [name]: 'bin/rewound.mjs' },
  exports: { '.': auth, './auth': auth, './package.json': './package.json' },
  dependencies,
};
writeFileSync(join(FOLDER, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', OUT], { cwd: FOLDER });

const file = join(OUT, `${name}-${version}.tgz`);
const { size } = statSync(file);
if (size > MAX_PACKAGE_BYTES)
  throw new Error(
    `${file}: found ${size} bytes, expected at most ${MAX_PACKAGE_BYTES}; see what is packed in ${FOLDER}`,
  );
console.log(
  `${file}: ${Math.ceil(size / 1024)} KiB, ${Object.keys(dependencies).length} dependencies, ` +
    `studio ${Math.ceil(studioBytes / 1024)} KiB as gzip`,
);
