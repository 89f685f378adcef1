/** The `backup` command: copies a log into one file, beside a running server too. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { amountText, openProgress } from './progress.ts';

interface BackupCommandOptions extends DataOptions {
  readonly force?: boolean;
  readonly json?: boolean;
}

export const addBackup = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('backup'))
      .argument('<file>', 'the backup to write; only its owner may read it')
      .option('--force', 'replace the file if there is one'),
    'print {file, position, bytes}',
  )
    .summary('copy the log into one file, beside a running server too')
    .description(
      'Copies the whole log, as it is at one moment, into one file with a digest: threads, runs, checkpoints, the ' +
        'store, crons, owed webhooks, and the secrets of open runs. Nothing else of the data folder is needed. The ' +
        `server may run meanwhile. "${PRODUCT} restore" puts it back.`,
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 written, 2 wrong option, or the file is there already, 3 the log is missing or damaged, 70 the disk failed',
        'backup monday.backup',
        'backup --data /var/lib/my-project /backups/monday.backup',
      ),
    )
    .action(async (file: string, { force = false, json = false, ...options }: BackupCommandOptions) => {
      const { store } = await openStore(options, host);
      const progress = openProgress(host, systemClock());
      try {
        const made = await store.backUp(resolve(host.cwd, file), { force, onProgress: progress.report });
        progress.clear();
        const size = amountText(made.bytes, 'bytes');
        host.print(
          json ? JSON.stringify(made) : `backed up to ${made.file}: ${size}, up to position ${made.position}`,
        );
        finish(EXIT_OK);
      } finally {
        progress.clear();
      }
    });
