/**
 * Locates modules of this program that are started or imported by URL. Built (scripts/build.mjs) or not, they have the
 * same paths below one root, and this module lies one folder below it.
 */
export const isBuilt = !import.meta.url.endsWith('.ts');

const root = new URL('../', import.meta.url);

/** URL of a module, named by its path below `src` without extension. The build must list it as an entry. */
export const ownModule = (path: string): URL => new URL(`${path}.${isBuilt ? 'js' : 'ts'}`, root);

/** URL of a folder of the build, named by its path below the build. */
export const builtFolder = (path: string): URL => new URL(`${path}/`, root);

/** URL of a build script: only for a program that runs from its sources. */
export const buildScript = (name: string): URL => new URL(`../scripts/${name}`, root);

/** Tells whether a file belongs to this program; its examples count as project files. */
export const isOwnModule = (url: string): boolean =>
  url.startsWith(root.href) && !url.startsWith(new URL('examples/', root).href);
