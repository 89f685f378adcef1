/** The `replay` command: reads the log of a data directory. R1 It imports no module with effects. */
import type { Command } from 'commander';
import { findDataDir } from '../config/load.ts';
import { PRODUCT } from '../kernel/product.ts';
import type { ReplayOptions } from '../replay/command.ts';
import type { Finish, Host } from './host.ts';
import { withConfigOption } from './server-options.ts';

export const addReplay = (program: Command, host: Host, finish: Finish): Command =>
  withConfigOption(program.command('replay'))
    .summary('read what happened from the log')
    .description(
      'Reads what happened from the log: the threads, the story of one, its state at any position. Changes nothing, ' +
        'starts nothing, and may run beside the server.',
    )
    .option('-d, --data <folder>', 'folder of the log, that of "serve" by default (PLATFORM_DATA)')
    .option('--thread <id>', 'what happened on this thread; the first characters of its id are enough')
    .option('--to <position>', 'with --thread: the state of the thread after this position of the log')
    .option('--cron <id>', 'the slots of this cron')
    .option('--verify', 'check that everything derived agrees with the log; exits 1 when it does not')
    .option('--all', 'list threads of stateless runs and of crons, too')
    .option('--ids', 'print ids whole')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  ${PRODUCT} replay\n  ${PRODUCT} replay --thread 01a20dad-6682\n` +
        `  ${PRODUCT} replay --thread 01a20dad-6682 --to 42\n  ${PRODUCT} replay --data .platform --verify`,
    )
    .action(async ({ config, data, ...options }: ReplayOptions & { config?: string; data?: string }) => {
      const { runReplay } = await import('../replay/command.ts');
      finish(await runReplay(findDataDir({ config, data }, host.env, host.cwd), options, host));
    });
