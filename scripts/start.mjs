#!/usr/bin/env node
/**
 * `node scripts/start.mjs serve` starts the program from its build, after rebuilding it if a source has changed;
 * `--build` only builds. The built program needs no compiler, which would cost each thread a thread of its own and
 * about 25 MB.
 *
 * Builds are kept below `node_modules/.cache`, where imports resolve, in folders named by a fingerprint of their
 * sources, together with what V8 has compiled of them. If nothing can be written, the program runs from its sources.
 */
import './bin/check-node.mjs';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildInto, ROOT, SOURCES } from './build.mjs';

const BUILDS = join(ROOT, 'node_modules/.cache/rewound');
/** Builds that are kept: a running server may still load modules of an older one. */
const MAX_KEPT_BUILDS = 5;

/** Hashes the inputs of the build: file times rather than contents, because it runs at every start. */
function fingerprint() {
  const builders = ['build.mjs', 'build-studio.mjs'].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const lines = [...sourcesIn(SOURCES), ...builders].map((file) => {
    const { size, mtimeMs } = statSync(file);
    return `${file} ${size} ${mtimeMs}\n`;
  });
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
}

const sourcesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourcesIn(path);
    return /\.(?:tsx?|css|html|svg)$/.test(entry.name) ? [path] : [];
  });

async function buildOnce(folder) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  await buildInto(unfinished);
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has finished the identical build first.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function dropOldBuilds() {
  const builds = readdirSync(BUILDS).map((name) => join(BUILDS, name));
  const age = new Map(builds.map((path) => [path, statSync(path).mtimeMs]));
  for (const path of builds.sort((a, b) => age.get(b) - age.get(a)).slice(MAX_KEPT_BUILDS))
    rmSync(path, { recursive: true, force: true });
}

/** URL of the program, built if possible. */
async function findProgram() {
  const folder = join(BUILDS, fingerprint());
  try {
    if (!existsSync(join(folder, 'main.js'))) {
      await buildOnce(folder);
      dropOldBuilds();
    }
    // Lies in the build, so that it is removed with it.
    module.enableCompileCache(join(folder, 'compiled'));
    return pathToFileURL(join(folder, 'main.js'));
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR'].includes(error.code)) throw error;
    console.error(`The program runs from its sources: nothing can be written to ${BUILDS} (${error.code})`);
    (await import('tsx/esm/api')).register();
    return pathToFileURL(join(SOURCES, 'main.ts'));
  }
}

const program = await findProgram();
if (process.argv[2] !== '--build') await import(program.href);
