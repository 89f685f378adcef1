/** Command-line options that several commands share. */
import type { Command } from 'commander';
import type { Overrides } from '../config/config.ts';

export const withConfigOption = (command: Command): Command =>
  command.option(
    '-c, --config <path>',
    'configuration file, or the folder that holds platform.json or langgraph.json (PLATFORM_CONFIG)',
  );

export const withServerOptions = (command: Command): Command =>
  withConfigOption(command)
    .option('-H, --host <host>', 'address to listen on, 127.0.0.1 by default (PLATFORM_HOST)')
    .option('-p, --port <port>', 'port to listen on, 2024 by default, 0 for a free one (PLATFORM_PORT)')
    .option('-d, --data <folder>', 'folder of the log, .platform of the project by default (PLATFORM_DATA)');

export type ServerOptions = Overrides;
