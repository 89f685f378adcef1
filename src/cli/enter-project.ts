import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';

/** Sets the variables of the project's env file, and its folder as working directory. */
export function enterProject(config: Config, env: NodeJS.ProcessEnv): void {
  Object.assign(env, config.env);
  // Project code opens files by relative paths, and graph workers inherit this directory.
  process.chdir(dirname(config.configFile));
}
