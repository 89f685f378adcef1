/** The `rekey` command: seals the content of a log under the first of its keys, beside no running server. */
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { openProgress } from './progress.ts';

export const addRekey = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(withDataOption(program.command('rekey')), 'print {rows}')
    .summary('encrypt the log under a new key')
    .description(
      'Encrypts all content of the log under the first key of PLATFORM_ENCRYPTION_KEY; the keys behind it, separated ' +
        'by commas, read what was written under them, and are not needed afterwards. A plain log becomes encrypted. ' +
        'No server may run meanwhile, and the disk needs as much room again as the log takes.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 done, 2 wrong option or key, 3 the log is missing, damaged or in use, 70 the disk failed',
        'rekey',
        'rekey --data /var/lib/my-project',
      ),
    )
    .action(async ({ json = false, ...options }: DataOptions & { json?: boolean }) => {
      const { store } = await openStore(options, host);
      const progress = openProgress(host, systemClock());
      try {
        const { rows } = store.rekey(progress.report);
        progress.clear();
        host.print(json ? JSON.stringify({ rows }) : `encrypted ${rows} rows anew under the first key`);
      } finally {
        progress.clear();
      }
      finish(EXIT_OK);
    });
