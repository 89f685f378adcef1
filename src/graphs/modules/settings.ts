/** Settings from a file's nearest tsconfig.json, cached per tsconfig.json. */
import { dirname } from 'node:path';
import { createPathsMatcher, getTsconfig, type TsConfigResult } from 'get-tsconfig';
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
const byFolder = new Map<string, ProjectSettings>();
const byConfig = new Map<string, ProjectSettings>();

/** Clears the caches, so that the next call reads tsconfig.json again. */
export function forgetProjectSettings(): void {
  for (const cache of [fileCache, byFolder, byConfig]) cache.clear();
}

/** Throws if the tsconfig.json, or one that it extends, cannot be read. */
export function findProjectSettings(file: string): ProjectSettings {
  // A package's tsconfig.json is ignored: it may extend a config that is not installed.
  if (file.includes('/node_modules/')) return NO_SETTINGS;
  const folder = dirname(file);
  const known = byFolder.get(folder);
  if (known !== undefined) return known;
  const found = toSettings(readTsconfig(file));
  byFolder.set(folder, found);
  return found;
}

function readTsconfig(file: string): TsConfigResult | null {
  try {
    return getTsconfig(file, 'tsconfig.json', fileCache);
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
