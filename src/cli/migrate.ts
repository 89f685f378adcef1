/** The `migrate` command: makes the tables of a database, so that the role of servers needs no right to create. */
import type { Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_DIFFERENT, EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, withJsonOption, type DataOptions } from './options.ts';

interface MigrateOptions extends DataOptions {
  readonly check?: boolean;
  readonly json?: boolean;
}

export const addMigrate = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(withDataOption(program.command('migrate')), 'print {address, created} or {address, missing}')
    .option('--check', 'change nothing, and tell whether tables are missing')
    .summary('make the tables of a PostgreSQL database')
    .description(
      'Creates the tables in the database of PLATFORM_DATABASE_URL, as the role that it names, under a lock; servers may ' +
        `run meanwhile. Servers whose role may create tables do it at their start; those of another role need it once. A log ` +
        'in a folder is made and raised by the start of a server.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 done, or nothing is to be done, 1 with --check: tables are missing, 2 wrong option, 3 the database cannot be used',
        'migrate',
        'migrate --check --json',
      ),
    )
    .action(async ({ check = false, json = false, ...options }: MigrateOptions) => {
      const { store } = await openStore(options, host);
      const { address, migrate } = store;
      const changes = (await migrate?.(check)) ?? false;
      if (json) host.print(JSON.stringify({ address, [check ? 'missing' : 'created']: changes }));
      else if (migrate === undefined)
        host.print(`${address} is a folder: the start of a server makes and raises its log, nothing to do`);
      else if (!changes) host.print(`${address}: the tables are those of this release, nothing to do`);
      else
        host.print(
          `${address}: ${check ? `tables are missing; "${PRODUCT} migrate" creates them` : 'created the tables'}`,
        );
      finish(check && changes ? EXIT_DIFFERENT : EXIT_OK);
    });
