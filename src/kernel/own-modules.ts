/**
 * Where the modules of this program lie that are started or imported by their address. Built (scripts/build.mjs) or
 * not, they have the same places below one root, and this module lies one folder below it.
 */
export const isBuilt = !import.meta.url.endsWith('.ts');

const root = new URL('../', import.meta.url);

/** The address of a module, named by its path below `src` without extension. The build must list it as an entry. */
export const ownModule = (path: string): URL => new URL(`${path}.${isBuilt ? 'js' : 'ts'}`, root);

/** Whether a file belongs to this program; its examples belong to a project that it serves. */
export const isOwnModule = (url: string): boolean =>
  url.startsWith(root.href) && !url.startsWith(new URL('examples/', root).href);
