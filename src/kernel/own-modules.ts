/**
 * Locates modules of this program that are started or imported by URL. Built (scripts/build.mjs) or not, they have the
 * same paths below one root, and this module lies one folder below it.
 */
export const isBuilt = !import.meta.url.endsWith('.ts');

const root = new URL('../', import.meta.url);

/** URL of a module, named by its path below `src` without extension. The build must list it as an entry. */
export const ownModule = (path: string): URL => new URL(`${path}.${isBuilt ? 'js' : 'ts'}`, root);

/** Tells whether a file belongs to this program; its examples count as project files. */
export const isOwnModule = (url: string): boolean =>
  url.startsWith(root.href) && !url.startsWith(new URL('examples/', root).href);
