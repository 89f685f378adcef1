/** The `dev` command: serves a project and reloads it when its files change. */
import type { Command } from 'commander';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { withServerOptions, type ServerOptions } from './options.ts';
import { serve } from './serve.ts';

interface DevOptions extends ServerOptions {
  readonly rerun: boolean;
}

export const addDev = (program: Command, host: Host, finish: Finish): Command =>
  withServerOptions(program.command('dev'))
    .summary('serve a project while you work on it')
    .description(
      'Serves the graphs of a project and takes over each change of its files at once. Runs are recorded, unless ' +
        '`recording` is set, and each save is tried: the last run of each graph that it belongs to, and pinned ones, ' +
        'are executed again offline.',
    )
    .option('--no-rerun', 'do not try saves against earlier runs')
    .addHelpText(
      'after',
      helpEnd(
        '0 stopped by a signal, 1 the stop failed, 2 wrong option or configuration, 3 the data directory is damaged or in use, ' +
          '70 the disk failed',
        'dev',
        'dev --config ../my-project --port 8080',
        'dev --no-rerun',
      ),
    )
    .action(async ({ rerun, ...options }: DevOptions) => {
      await serve(options, host, { isWatching: true, isTrying: rerun });
      finish(undefined);
    });
