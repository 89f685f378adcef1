/** What the nearest tsconfig.json says about a file, read once per tsconfig.json and thread. */
import { dirname } from 'node:path';
import { createPathsMatcher, getTsconfig, type TsConfigResult } from 'get-tsconfig';
import { noteFile } from './loaded-files.ts';

type CompilerOptions = NonNullable<TsConfigResult['config']['compilerOptions']>;

export interface ProjectSettings {
  readonly compilerOptions: CompilerOptions;
  readonly allowJs: boolean;
  /** Absolute paths that `paths` and `baseUrl` make of a specifier; they need not exist. */
  pathsOf(specifier: string): readonly string[];
}

const NONE: ProjectSettings = { compilerOptions: {}, allowJs: false, pathsOf: () => [] };

/** Texts that `getTsconfig` has read. */
const files = new Map<string, unknown>();
const byFolder = new Map<string, ProjectSettings>();
const byConfig = new Map<string, ProjectSettings>();

/** Reads every tsconfig.json anew when it is asked for next. */
export function forgetProjectSettings(): void {
  for (const cache of [files, byFolder, byConfig]) cache.clear();
}

/** Throws when a tsconfig.json, or one that it extends, cannot be read. */
export function findProjectSettings(file: string): ProjectSettings {
  // The tsconfig.json of a package may extend one that only its author has installed.
  if (file.includes('/node_modules/')) return NONE;
  const folder = dirname(file);
  const known = byFolder.get(folder);
  if (known !== undefined) return known;
  const found = toSettings(readTsconfig(file));
  byFolder.set(folder, found);
  return found;
}

function readTsconfig(file: string): TsConfigResult | null {
  try {
    return getTsconfig(file, 'tsconfig.json', files);
  } catch (error) {
    throw new Error(
      `the tsconfig.json for ${file} cannot be read, or what it extends is not installed: ${(error as Error).message}`,
    );
  }
}

function toSettings(tsconfig: TsConfigResult | null): ProjectSettings {
  if (tsconfig === null) return NONE;
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
