/** The `diff` command: compares two runs. R1 Logs are opened read-only; exported files become logs of their own. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import type { History } from '../store/port/past.ts';
import { EXIT_DIFFERENT, EXIT_OK, orUntried } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openPast, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { throwFileFailure } from './refused-file.ts';

interface DiffOptions extends DataOptions {
  readonly json?: boolean;
}

const RUN =
  'a run, or a thread or an exported file for its last run, or FILE:RUN; the first characters of an id are enough';

export const addDiff = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('diff')).argument('<run-a>', RUN).argument('<run-b>', 'the same'),
    'print {equal, a, b, first, steps, state}',
  )
    .summary('compare two runs')
    .description(
      'Compares two runs: steps side by side, the first divergence, what differs in the state, durations and tokens. ' +
        'Ids, times and durations within values are no differences. Changes nothing, and may run beside the server.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 equal, 1 different, 2 unknown run, 3 the log or a file cannot be opened',
        'diff 01a20dad-668f 01a20dad-b155',
        'diff monday.rewound tuesday.rewound',
        'diff monday.rewound:01a20dad-668f 01a20dad-b155 --json',
      ),
    )
    .action(async (a: string, b: string, options: DiffOptions) =>
      finish(await withSources([a, b], options, host, (sources) => compare(sources, options, host))),
    );

/** A run, and the log that has it. */
interface Source {
  readonly history: History;
  /** Undefined: the last run of the log's thread. */
  readonly name: string | undefined;
}

async function compare(
  [a, b]: readonly Source[],
  { json = false }: DiffOptions,
  host: Host,
): Promise<number> {
  const { diffRuns } = await import('../past/tell/run-diff.ts');
  const { printDiff } = await import('../past/tell/print-diff.ts');
  const diff = await diffRuns(await sideOf(a!), await sideOf(b!));
  if (json) host.print(JSON.stringify(diff));
  else printDiff(diff, host.print);
  return diff.equal ? EXIT_OK : EXIT_DIFFERENT;
}

async function sideOf({ history, name }: Source) {
  const { findRun } = await import('../past/find.ts');
  const run = name ?? (await history.past.threads())[0]!.thread_id;
  return { source: history, run: await findRun(history, run) };
}

/** A run's id may follow the name of a file. */
const FILE = /^(.*?)(?::([0-9a-f-]{4,36}…?))?$/i;

/** Lends the logs in which the runs are; those of exported files go at the end. */
async function withSources<T>(
  given: readonly string[],
  options: DiffOptions,
  host: Host,
  use: (sources: readonly Source[]) => Promise<T>,
): Promise<T> {
  const named = given.map((text) => {
    const [, file = '', name] = FILE.exec(text) ?? [];
    const path = resolve(host.cwd, file);
    return existsSync(path) ? { path, name } : { path: undefined, name: text };
  });
  const files = named.flatMap(({ path }) => path ?? []);
  const opened: History[] = [];
  const open = (history: History): History => opened[opened.push(history) - 1]!;
  const lend = async (stores: readonly { openPast(): History }[]): Promise<T> => {
    const imported = stores.map(({ openPast: past }) => past);
    const sources: Source[] = [];
    for (const { path, name } of named) {
      const past = path === undefined ? await openPast(options, host) : orUntried(imported.shift()!);
      sources.push({ history: open(past), name });
    }
    return use(sources);
  };
  const closing = <R>(work: Promise<R>): Promise<R> =>
    work.finally(() => {
      for (const history of opened) history.close();
    });
  if (files.length === 0) return closing(lend([]));
  const { withImported } = await import('./scratch-store.ts');
  const say = (text: unknown): void => host.printError(String(text));
  return withImported(files, systemClock(), say, (stores) => closing(lend(stores))).catch((error: unknown) =>
    throwFileFailure(error),
  );
}
