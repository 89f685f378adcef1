/** The `replay` command: reads the log of a data directory. R1 It imports no module with effects. */
import type { Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import type { ReplayOptions } from '../replay/command.ts';
import type { Finish, Host } from './host.ts';
import {
  addressOfStore,
  withDataOption,
  withJsonOption,
  withThreadOption,
  type DataOptions,
} from './options.ts';

export const addReplay = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(withThreadOption(withDataOption(program.command('replay')), 'what happened on this thread'))
    .summary('read what happened from the log')
    .description(
      'Reads what happened from the log: the threads, the story of one, its state at any position. Changes nothing, ' +
        'starts nothing, and may run beside the server.',
    )
    .option('--to <position>', 'with --thread: the state of the thread after this position of the log')
    .option('--cron <id>', 'the slots of this cron')
    .option('--all', 'list threads of stateless runs and of crons, too')
    .option('--ids', 'print ids whole')
    .addHelpText(
      'after',
      `\nExamples:\n  ${PRODUCT} replay\n  ${PRODUCT} replay --thread 01a20dad-6682\n` +
        `  ${PRODUCT} replay --thread 01a20dad-6682 --to 42\n  ${PRODUCT} replay --data /var/lib/my-project --all`,
    )
    .action(async ({ config, data, ...options }: ReplayOptions & DataOptions) => {
      const { storeAt } = await import('../open-store.ts');
      const { runReplay } = await import('../replay/command.ts');
      const store = storeAt(addressOfStore({ config, data }, host));
      finish(await runReplay(store.openPast, options, host));
    });
