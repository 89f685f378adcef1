/** Addresses of logs, as `--data` and `PLATFORM_DATA` give them: a folder, or a PostgreSQL database. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseUrlProblem, isDatabaseUrl } from '../kernel/database-address.ts';
import { ConfigError } from './config.ts';

/** Not a colon alone: `C:` names a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

export type StoreAddress = { readonly folder: string } | { readonly databaseUrl: string };

/** Throws `ConfigError` for addresses of other engines; it does not quote them, since they may contain a password. */
export function readStoreAddress(address: string, cwd: string): StoreAddress {
  if (isDatabaseUrl(address)) {
    const problem = databaseUrlProblem(address);
    if (problem !== undefined) throw new ConfigError([`--data (PLATFORM_DATA): ${problem}`]);
    return { databaseUrl: address };
  }
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return { folder: resolve(cwd, address) };
  if (scheme === 'file') return { folder: fileURLToPath(address) };
  throw new ConfigError([
    `--data (PLATFORM_DATA): expected a folder or postgres://…, found an address that begins with ${scheme}://`,
  ]);
}
