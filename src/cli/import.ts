/** The `import` command: takes an exported thread or log into a log, or sends it to a running server. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { PRODUCT } from '../kernel/product.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import { CommandFailed, EXIT_DIFFERENT, EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { openProgress } from './progress.ts';
import { sendFile } from './send-file.ts';

const STANDARD_INPUT = '-';

interface ImportOptions extends DataOptions {
  readonly newId?: boolean;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly json?: boolean;
}

export const addImport = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('import'), 'folder of the log to import into, created when it is missing')
      .argument('[file]', `what "${PRODUCT} export" wrote; "-", or none, for standard input`, STANDARD_INPUT)
      .option('--new-id', 'give the thread and its runs new ids')
      .option('--url <address>', 'send the file to the server that runs there, instead of into a folder')
      .option('--header <line...>', 'with --url: headers of the request, such as "x-api-key: KEY"'),
    'print {thread_id}, of a whole log {events, streams, problem}',
  )
    .summary('take an exported thread or log in')
    .description(
      'Checks the file, then takes its thread in: its state, history and frames are as before, and it can be ' +
        'continued. Runs that were open end with the reason "imported". Writes nothing when the file is damaged, or ' +
        'when the thread or one of its runs is here already (see --new-id). A folder must have no running server; ' +
        'with --url the server takes the thread in, for the user that the headers name. A whole log is taken into a ' +
        'new folder: with all ids and times, and open runs go on at the next start. It is verified at the end.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 imported, 1 the server refused it, or the log does not verify, 2 wrong option, taken id, or a log that is not new, 3 the file is missing or damaged, or the log or ' +
          'server cannot be opened, 70 the disk failed',
        'import thread.rewound --data /var/lib/my-project',
        'import thread.rewound --new-id',
        'import thread.rewound --url http://127.0.0.1:2024 --header "x-api-key: KEY"',
        'import deployment.rewound --data /var/lib/my-other-project',
      ),
    )
    .action(async (file: string, options: ImportOptions) => {
      if (file !== STANDARD_INPUT) return finish(await take(resolve(host.cwd, file), options, host));
      const { withSpooled } = await import('./log-carriage.ts');
      finish(await withSpooled(host.readIn(), (path) => take(path, options, host)));
    });

/** Returns the exit code. */
async function take(path: string, options: ImportOptions, host: Host): Promise<number> {
  const { url } = options;
  if (url === undefined) {
    const { scopeOf } = await import('../archive/container.ts');
    if ((await scopeOf(path)) === 'log') return takeLog(path, options, host);
  }
  const threadId =
    url === undefined
      ? (await importHere(path, options, host)).threadId
      : await sendFile(path, { ...options, url });
  host.print(options.json === true ? JSON.stringify({ thread_id: threadId }) : `imported thread ${threadId}`);
  return EXIT_OK;
}

async function takeLog(
  path: string,
  { newId, json = false, ...options }: ImportOptions,
  host: Host,
): Promise<number> {
  if (newId !== undefined)
    throw new CommandFailed(EXIT_USAGE, 'import: the file has a whole log, which keeps its ids');
  const { importLogHere } = await import('./log-carriage.ts');
  const { store, keys } = await openStore(options, host);
  const clock = systemClock();
  const progress = openProgress(host, clock);
  const onWarning = (text: string): void => {
    progress.clear();
    host.printError(text);
  };
  try {
    const { events, streams, problem } = await importLogHere(path, {
      ...{ store, keys, clock, onWarning, onProgress: progress.report },
    });
    progress.clear();
    if (json) host.print(JSON.stringify({ events, streams, problem: problem ?? null }));
    else host.print(`imported into ${store.address}: ${events} events in ${streams} streams`);
    if (problem === undefined) return EXIT_OK;
    if (!json) host.printError(`the log that was imported does not verify: ${problem}`);
    return EXIT_DIFFERENT;
  } finally {
    progress.clear();
  }
}

export async function importHere(
  path: string,
  { newId = false, ...options }: Pick<ImportOptions, 'newId'> & DataOptions,
  host: Host,
): Promise<{ readonly threadId: string; readonly graphs: readonly string[] }> {
  const { importIntoLog } = await import('../archive/into-log.ts');
  const { store } = await openStore(options, host);
  const clock = systemClock();
  const progress = openProgress(host, clock);
  const say = (text: string): void => {
    progress.clear();
    host.printError(text);
  };
  try {
    const imported = await importIntoLog(path, {
      ...{ clock, newIds: newId, onProgress: progress.report },
      openLog: () => store.openLog({ clock, onFault: (error) => say(String(error)), onWarning: say }),
    });
    if (imported.ok) return imported;
    throw new CommandFailed(
      EXIT_USAGE,
      `import: thread ${imported.fileId} or one of its runs is here already; --new-id imports it under new ids`,
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'DataDirectoryBusy')
      throw new Unavailable(`${error.message}; --url imports into a running server`, { cause: error });
    throw error;
  } finally {
    progress.clear();
  }
}
