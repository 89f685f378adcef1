/** Settings from a file's nearest tsconfig.json, or the one that it references for the file; cached per tsconfig.json. */
import { dirname, extname, resolve } from 'node:path';
import {
  createFilesMatcher,
  createPathsMatcher,
  getTsconfig,
  parseTsconfig,
  type TsConfigResult,
} from 'get-tsconfig';
import { noteFile } from './loaded-files.ts';

type CompilerOptions = NonNullable<TsConfigResult['config']['compilerOptions']>;

export interface ProjectSettings {
  readonly compilerOptions: CompilerOptions;
  readonly allowJs: boolean;
  /** Absolute candidate paths of a specifier by `paths` and `baseUrl`; they need not exist. */
  pathsOf(specifier: string): readonly string[];
}

const NO_SETTINGS: ProjectSettings = { compilerOptions: {}, allowJs: false, pathsOf: () => [] };

/** The file cache of `getTsconfig`. */
const fileCache = new Map<string, unknown>();
const byFile = new Map<string, ProjectSettings>();
const byConfig = new Map<string, ProjectSettings>();

/** Clears the caches, so that the next call reads tsconfig.json again. */
export function forgetProjectSettings(): void {
  for (const cache of [fileCache, byFile, byConfig]) cache.clear();
}

/** Throws if the tsconfig.json, or one that it extends, cannot be read. */
export function findProjectSettings(file: string): ProjectSettings {
  // A package's tsconfig.json is ignored: it may extend a config that is not installed.
  if (file.includes('/node_modules/')) return NO_SETTINGS;
  const known = byFile.get(file);
  if (known !== undefined) return known;
  const found = toSettings(readTsconfig(file));
  byFile.set(file, found);
  return found;
}

/** The tsconfig.json for a file: its nearest one or one that this references. `note` gets the path of each other one. */
export const findTsconfigPath = (nearest: string, file: string, note: (path: string) => void): string =>
  referencedFor({ path: nearest, config: parseTsconfig(nearest) }, file, note).path;

/**
 * The tsconfig.json, of this one and those that it references, whose files contain the given one. Editors and templates
 * keep a tsconfig.json with `files: []` that only references others. This one, if no other has the file.
 */
function referencedFor(
  tsconfig: TsConfigResult,
  file: string,
  note: (path: string) => void = noteFile,
  seen = new Set<string>(),
): TsConfigResult {
  const { references = [] } = tsconfig.config;
  if (references.length === 0 || createFilesMatcher(tsconfig)(file) !== undefined) return tsconfig;
  seen.add(tsconfig.path);
  for (const reference of references) {
    const named = resolve(dirname(tsconfig.path), reference.path);
    const path = extname(named) === '.json' ? named : resolve(named, 'tsconfig.json');
    if (seen.has(path)) continue;
    note(path);
    const referenced = { path, config: parseTsconfig(path, fileCache as Map<string, string>) };
    const found = referencedFor(referenced, file, note, seen);
    if (createFilesMatcher(found)(file) !== undefined) return found;
  }
  return tsconfig;
}

function readTsconfig(file: string): TsConfigResult | null {
  try {
    const nearest = getTsconfig(file, 'tsconfig.json', fileCache);
    return nearest && referencedFor(nearest, file);
  } catch (error) {
    throw new Error(
      `the tsconfig.json for ${file} cannot be read, or what it extends is not installed: ${(error as Error).message}`,
    );
  }
}

function toSettings(tsconfig: TsConfigResult | null): ProjectSettings {
  if (tsconfig === null) return NO_SETTINGS;
  const known = byConfig.get(tsconfig.path);
  if (known !== undefined) return known;
  noteFile(tsconfig.path);
  const { compilerOptions = {} } = tsconfig.config;
  const match = createPathsMatcher(tsconfig);
  const settings: ProjectSettings = {
    compilerOptions,
    allowJs: compilerOptions.allowJs === true || compilerOptions.checkJs === true,
    pathsOf: (specifier) => match?.(specifier) ?? [],
  };
  byConfig.set(tsconfig.path, settings);
  return settings;
}
