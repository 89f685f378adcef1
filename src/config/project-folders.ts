import { dirname } from 'node:path';
import type { Config } from './config.ts';

/** Folders of the project's sources: that of its configuration first, then those of its graphs. */
export const foldersOf = ({ configFile, graphs }: Pick<Config, 'configFile' | 'graphs'>): string[] => [
  dirname(configFile),
  ...graphs.map(({ file }) => dirname(file)),
];
