/** `replay`: reads the log of a data directory. R1 It imports nothing that could cause an effect. */
import type { Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import type { ReplayOptions } from '../replay/command.ts';
import type { Finish, Host } from './host.ts';

export const addReplay = (program: Command, host: Host, finish: Finish): Command =>
  program
    .command('replay')
    .summary('read what happened from the log')
    .description('Reads what happened from the log of a data directory. Changes nothing, starts nothing.')
    .option('-d, --data <folder>', 'data directory of a server (PLATFORM_DATA), by default .platform')
    .option('--thread <id>', 'the events of this thread')
    .option('--to <position>', 'with --thread: the state of the thread after this position of the log')
    .option('--cron <id>', 'the slots of this cron')
    .option('--verify', 'check that everything derived agrees with the log; exits 1 when it does not')
    .option('--all', 'list threads of stateless runs, too')
    .option('--ids', 'print ids whole')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  ${PRODUCT} replay --data .platform\n  ${PRODUCT} replay --data .platform --thread ID --to 42\n  ${PRODUCT} replay --data .platform --verify`,
    )
    .action(async (options: ReplayOptions) => {
      const { runReplay } = await import('../replay/command.ts');
      finish(await runReplay(options, host.env, host.print));
    });
