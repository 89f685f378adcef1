/** The `dev` command: serves a project and reloads it when its files change. */
import type { Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import type { Finish, Host } from './host.ts';
import { withServerOptions, type ServerOptions } from './options.ts';
import { serve } from './serve.ts';

export const addDev = (program: Command, host: Host, finish: Finish): Command =>
  withServerOptions(program.command('dev'))
    .summary('serve a project while you work on it')
    .description('Serves the graphs of a project and takes over each change of its files at once.')
    .addHelpText(
      'after',
      `\nExamples:\n  ${PRODUCT} dev\n  ${PRODUCT} dev --config ../my-project --port 8080`,
    )
    .action(async (options: ServerOptions) => {
      await serve(options, host, { isWatching: true });
      finish(undefined);
    });
