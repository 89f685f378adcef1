import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';

/** Gives code of the project the variables of its env file and its own folder as working directory. */
export function enterProject(config: Config, env: NodeJS.ProcessEnv): void {
  Object.assign(env, config.env);
  // Graph code finds files of its project by relative paths, and graph workers cannot change their directory.
  process.chdir(dirname(config.configFile));
}
