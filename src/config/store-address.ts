/** Addresses of stores, as `--data` and `PLATFORM_DATA` give them. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from './config.ts';

/** Not a colon alone: `C:` names a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/** Returns the folder that an address names. Throws `ConfigError` for addresses of other engines. */
export function toStoreFolder(address: string, cwd: string): string {
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return resolve(cwd, address);
  if (scheme === 'file') return fileURLToPath(address);
  throw new ConfigError([
    `--data (PLATFORM_DATA): expected a folder, found ${address}: this version keeps its log in a folder only`,
  ]);
}
