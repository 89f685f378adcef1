/** The `export` command: writes one thread or the whole log into a file. R1 It imports no module with effects. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../config/config.ts';
import { readConfig } from '../config/load.ts';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { PRODUCT } from '../kernel/product.ts';
import type { Store } from '../open-store.ts';
import { CommandFailed, EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import {
  openStore,
  withJsonOption,
  withDataOption,
  withOutputOption,
  withThreadOption,
  type DataOptions,
} from './options.ts';
import { amountText, openProgress, type Progress } from './progress.ts';

interface ExportOptions extends DataOptions {
  readonly thread?: string;
  readonly all?: boolean;
  readonly withSecrets?: boolean;
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const STANDARD_OUTPUT = '-';

export const addExport = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withOutputOption(
      withThreadOption(withDataOption(program.command('export')), 'the thread to export'),
      'the new file, or "-" for standard output, which a pipe gets by default',
    ),
    'print {thread_id, file, bytes}; thread_id is null for the whole log',
  )
    .summary('write one thread, or the whole log, into a file')
    .description(
      'Writes one thread into one file: its events, checkpoints, frames and recordings. Secrets, webhooks and ' +
        'crons stay behind. With --all the file has everything: threads with their open runs, assistants, the store, ' +
        'crons, owed webhooks, idempotency keys, and secrets, sealed under the first key of PLATFORM_ENCRYPTION_KEY. ' +
        'Changes nothing, and may run beside the server. "import" takes the file in elsewhere.',
    )
    .option('--all', 'write the whole log, for another folder or database')
    .option('--with-secrets', 'with --all and without a key: write secrets as they are')
    .option('--force', 'replace the file if it exists')
    .addHelpText(
      'after',
      helpEnd(
        '0 written, 1 failed, 2 wrong option, or the file exists, 3 unknown thread, or the log or the file cannot be opened, 70 the disk failed',
        'export --thread 01a20dad-6682 --output thread.rewound',
        'export --data /var/lib/my-project --thread 01a20dad-6682 --output - > thread.rewound',
        'export --all --output deployment.rewound',
        `export --all --data /var/lib/my-project | PLATFORM_DATABASE_URL=postgres://… ${PRODUCT} import`,
      ),
    )
    .action(async (options: ExportOptions) => {
      await run(options, host);
      finish(EXIT_OK);
    });

async function run(
  { thread, all = false, withSecrets = false, force = false, json = false, ...options }: ExportOptions,
  host: Host,
): Promise<void> {
  // A pipe or file gets the bytes; a terminal would show them.
  const output = options.output ?? (host.columns === undefined ? STANDARD_OUTPUT : undefined);
  if ((thread === undefined) !== all || output === undefined)
    throw new CommandFailed(EXIT_USAGE, 'export: expected --output, and --thread or --all');
  const { writeFile } = await import('../archive/to-file.ts');
  const { store, keys } = await openStore(options, host);
  const clock = systemClock();
  const progress = openProgress(host, clock);
  async function write(chunks: AsyncIterable<Buffer>, threadId?: string): Promise<void> {
    if (output === STANDARD_OUTPUT) {
      for await (const chunk of chunks) await host.writeOut(chunk);
      return;
    }
    const path = resolve(host.cwd, output!);
    const bytes = await writeFile(path, chunks, { replace: force });
    progress.clear();
    host.print(
      json
        ? JSON.stringify({ thread_id: threadId ?? null, file: path, bytes })
        : `exported ${threadId === undefined ? 'the log' : `thread ${threadId}`}: ${output}, ${amountText(bytes, 'bytes')}`,
    );
  }
  try {
    if (thread === undefined) {
      const { withExportedLog } = await import('./log-carriage.ts');
      await withExportedLog({ store, keys, withSecrets, clock, onProgress: progress.report }, write);
    } else await exportOne(thread, { options, host, store, clock, progress }, write);
  } finally {
    progress.clear();
  }
}

interface Exporting {
  readonly options: DataOptions;
  readonly host: Host;
  readonly store: Store;
  readonly clock: Clock;
  readonly progress: Progress;
}

async function exportOne(
  thread: string,
  { options, host, store, clock, progress }: Exporting,
  write: (chunks: AsyncIterable<Buffer>, threadId: string) => Promise<void>,
): Promise<void> {
  const { exportThread } = await import('../archive/write.ts');
  const { findLibraries } = await import('../graphs/library-versions.ts');
  const { findThread } = await import('../past/find.ts');
  const history = await store.openPast();
  const threadId = await findThread(history, thread).finally(() => history.close());
  const source = await store.openSource(threadId);
  try {
    const total = await source.size();
    const chunks = exportThread(source, {
      ...{ threadId, exportedAt: clock.now(), libraries: findLibraries(graphFiles(options, host)) },
      onBytes: (done) =>
        progress.report({ phase: 'exporting', done, total: Math.max(done, total), unit: 'bytes' }),
    });
    await write(chunks, threadId);
  } finally {
    await source.close();
  }
}

/** None without a project: the data folder says nothing of it. */
function graphFiles(options: DataOptions, { env, cwd }: Host): string[] {
  try {
    return readConfig(options, env, cwd).config.graphs.map(({ file }) => file);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}
