/** Command-line options that several commands share: one name, one letter and one meaning in all of them. */
import type { Command } from 'commander';
import type { Overrides } from '../config/config.ts';
import { findStore } from '../config/load.ts';
import type { History } from '../store/port/past.ts';
import type { Store } from '../open-store.ts';
import type { Host } from './host.ts';

export const withConfigOption = (command: Command): Command =>
  command.option(
    '-c, --config <path>',
    'configuration file, or the folder that holds platform.json or langgraph.json (PLATFORM_CONFIG)',
  );

/** `--config` and `--data`: which log a command is about. `storeOf` reads them. */
export const withDataOption = (
  command: Command,
  text = 'folder of the log, .platform of the project by default (PLATFORM_DATA), or its database (PLATFORM_DATABASE_URL)',
): Command => withConfigOption(command).option('-d, --data <folder>', text);

export const withServerOptions = (command: Command): Command =>
  withDataOption(command)
    .option('-H, --host <host>', 'address to listen on, 127.0.0.1 by default (PLATFORM_HOST)')
    .option('-p, --port <port>', 'port to listen on, 2024 by default, 0 for a free one (PLATFORM_PORT)');

export const withThreadOption = (command: Command, text = 'the thread'): Command =>
  command.option('--thread <id>', `${text}; the first characters of its id are enough`);

export const withRunOption = (command: Command, text = 'the run'): Command =>
  command.option('--run <id>', `${text}; the first characters of its id are enough`);

export const withOutputOption = (command: Command, text: string): Command =>
  command.option('-o, --output <file>', text);

export const withJsonOption = (command: Command, text = 'print JSON'): Command =>
  command.option('--json', text);

export type ServerOptions = Overrides;
export type DataOptions = Pick<Overrides, 'config' | 'data'>;

/** The store that `--data`, the environment or the project names, with the keys that these have. */
export async function openStore(
  options: DataOptions,
  { env, cwd }: Pick<Host, 'env' | 'cwd'>,
): Promise<{ readonly store: Store; readonly dataDir: string; readonly keys: readonly string[] }> {
  const { address, dataDir, keys } = findStore(options, env, cwd);
  const { storeAt } = await import('../open-store.ts');
  return { store: storeAt(address, keys), dataDir, keys };
}

/** R1 Opens that log read-only. */
export async function openPast(options: DataOptions, host: Pick<Host, 'env' | 'cwd'>): Promise<History> {
  const { store } = await openStore(options, host);
  return store.openPast();
}
