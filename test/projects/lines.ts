/**
 * The library lines that projects run on: each is installed from its committed lock file into `test/.cache`, in a
 * folder named by the digest of what was installed. Projects are copied below that folder, so that Node finds the
 * line's packages by walking up.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild } from '../../scripts/run-child.ts';

export const CURRENT_LINES = ['1.4', '1.7'] as const;
export const OLDER_LINES = ['0.2', '0.3', '0.4'] as const;
export type Line = (typeof CURRENT_LINES)[number] | (typeof OLDER_LINES)[number];

/** `npm test` runs every project on the newest line and some on the one before; `npm run test:long` runs the rest. */
export type Extent = 'usual' | 'long';

export const NEWEST_LINE: Line = '1.7';
export const extentOf = (line: Line, usual: readonly Line[] = [NEWEST_LINE]): Extent =>
  usual.includes(line) ? 'usual' : 'long';

const PROJECTS = fileURLToPath(new URL('.', import.meta.url));
const CACHE = fileURLToPath(new URL('../.cache/lines/', import.meta.url));
const INSTALL_TIMEOUT_MS = 240_000;
/** A package of the projects' own, which no registry has. */
const MODEL = 'scripted-model';

/** Folder of the line with its `node_modules`; installs it when the lock file is new. */
export async function ensureLine(line: Line): Promise<string> {
  const source = join(PROJECTS, 'lines', line);
  const model = join(PROJECTS, 'lines', MODEL);
  const hash = createHash('sha256');
  for (const file of [join(source, 'package-lock.json'), join(model, 'index.js')])
    hash.update(await readFile(file));
  const root = join(CACHE, `${line}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(root)) return root;

  const unfinished = `${root}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    await cp(join(source, name), join(unfinished, name));
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const command = ['ci', ...quietly, '--prefix', unfinished];
  const { code, output } = await runChild('npm', command, {
    timeoutMs: INSTALL_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (code !== 0) throw new Error(`npm ci of line ${line} ended with ${code}; expected 0:\n${output}`);
  await cp(model, join(unfinished, 'node_modules', MODEL), { recursive: true });
  // Another process may have been faster; both have installed the same.
  await rename(unfinished, root).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(root)) throw error;
  });
  for (const name of await readdir(CACHE))
    if (name.startsWith(`${line}-`) && !name.startsWith(basename(root)))
      await rm(join(CACHE, name), { recursive: true, force: true });
  return root;
}

/** Folder of the copies on a line. Stages that run beside each other have one each. */
export const copiesOn = (root: string): string =>
  join(root, process.env['TEST_DATABASE_URL'] ? 'projects-on-postgres' : 'projects');

/** A fresh copy of the project on the line; `repository`: folder of the copies of projects that are served together. */
export async function copyProject(root: string, name: string, repository = ''): Promise<string> {
  const folder = join(copiesOn(root), repository, name);
  await rm(folder, { recursive: true, force: true });
  await cp(join(PROJECTS, name), folder, { recursive: true });
  // Node would look for what the line lacks in the packages of this repository, which lie further up.
  for (const file of await manifestsBelow(folder)) {
    const { dependencies = {} } = JSON.parse(await readFile(file, 'utf8')) as { dependencies?: object };
    for (const dependency of Object.keys(dependencies))
      if (!existsSync(join(root, 'node_modules', dependency)))
        throw new Error(`${file}: dependencies has ${dependency}; expected a package of the line in ${root}`);
  }
  return folder;
}

const manifestsBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => basename(name) === 'package.json')
    .map((name) => join(folder, name));
