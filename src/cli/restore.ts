/** The `restore` command: puts a backup in the place of a log. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { openProgress } from './progress.ts';

interface RestoreCommandOptions extends DataOptions {
  readonly force?: boolean;
  readonly json?: boolean;
}

export const addRestore = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('restore'), 'folder to restore into, .platform of the project by default')
      .argument('<file>', `what "${PRODUCT} backup" wrote`)
      .option('--force', 'move a log that is there already into a folder beside it'),
    'print {position, aside}',
  )
    .summary('put a backup in the place of the log')
    .description(
      'Checks the digest of a backup, then makes it the log of a folder. Writes nothing when the backup is damaged, ' +
        'when the folder has a log already (see --force), or when a server uses it. The next server goes on where ' +
        'the backup was taken, with open runs, crons and owed webhooks.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 restored, 2 wrong option, or there is a log already, 3 the backup is missing or damaged, or the folder in use, 70 the disk failed',
        'restore monday.backup --data /var/lib/my-project',
        'restore monday.backup --force',
      ),
    )
    .action(async (file: string, { force = false, json = false, ...options }: RestoreCommandOptions) => {
      const clock = systemClock();
      const progress = openProgress(host, clock);
      const { store } = await openStore(options, host);
      const path = resolve(host.cwd, file);
      try {
        const restored = store.restore(path, { force, now: clock.now(), onProgress: progress.report });
        progress.clear();
        const { position, aside } = restored;
        if (json) host.print(JSON.stringify({ position, aside: aside ?? null }));
        else host.print(`restored into ${store.address}, up to position ${position}`);
        if (!json && aside !== undefined) host.print(`the log that was there is in ${aside}`);
      } finally {
        progress.clear();
      }
      finish(EXIT_OK);
    });
