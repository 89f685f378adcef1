import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';

/** Gives code of the project the variables of its env file and its own folder as working directory. */
export function enterProject(config: Config, env: NodeJS.ProcessEnv): void {
  Object.assign(env, config.env);
  // Code of the project finds its files by relative paths; graph workers are started in this directory.
  process.chdir(dirname(config.configFile));
}
