import { ConfigError } from '../config/config.ts';
import { readConfig } from '../config/load.ts';
import { foldersOf } from '../config/project-folders.ts';
import type { Host } from './host.ts';
import type { DataOptions } from './options.ts';

/** Folders of the project's sources; the working directory without a project. */
export function projectFolders(options: DataOptions, { env, cwd }: Pick<Host, 'env' | 'cwd'>): string[] {
  try {
    return foldersOf(readConfig(options, env, cwd).config);
  } catch (error) {
    if (error instanceof ConfigError) return [cwd];
    throw error;
  }
}
