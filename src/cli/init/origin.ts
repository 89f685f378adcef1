/** How a new project gets this program: from the single executable, or as a package that npm installs again. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { PRODUCT, VERSION } from '../../kernel/product.ts';

export interface Origin {
  /** The program in npm scripts of the project. */
  readonly inScripts: string;
  /** The program in a shell, in the project's folder. */
  readonly inShell: string;
  /** The program's version specifier in `package.json`; undefined for the single executable. */
  readonly dependency?: string;
}

/** `folder`: absolute path of the project. */
export function findOrigin(folder: string, env: NodeJS.ProcessEnv): Origin {
  if (isSea()) return ofExecutable(env);
  const dependency = dependencyOf(packageFolder(), folder);
  return { inScripts: PRODUCT, inShell: `npx ${PRODUCT}`, dependency };
}

function ofExecutable({ PATH = '' }: NodeJS.ProcessEnv): Origin {
  const isOnPath = PATH.split(delimiter).includes(dirname(process.execPath));
  const command = isOnPath ? PRODUCT : JSON.stringify(process.execPath);
  return { inScripts: command, inShell: command };
}

/** The nearest folder above this module whose `package.json` is the program's. */
function packageFolder(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    const file = join(dir, 'package.json');
    if (existsSync(file) && (readJson(file) as { name?: unknown }).name === PRODUCT) return dir;
    if (dir === dirname(dir)) throw new Error(`${PRODUCT}: found no package.json above ${import.meta.url}`);
  }
}

/** Returns the source of the installed package: a version, a file, or the folder of its sources. */
function dependencyOf(installed: string, project: string): string {
  const modules = dirname(installed);
  const isInstalled = installed.endsWith(join('node_modules', PRODUCT));
  if (!isInstalled) return `file:${relative(project, installed)}`;
  const lock = join(modules, '.package-lock.json');
  const { packages = {} } = (existsSync(lock) ? readJson(lock) : {}) as {
    packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  const resolved = packages[`node_modules/${PRODUCT}`]?.resolved;
  if (resolved?.startsWith('file:') !== true) return VERSION;
  return `file:${resolve(dirname(modules), resolved.slice('file:'.length))}`;
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
