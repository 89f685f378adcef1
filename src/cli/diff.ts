/** The `diff` command: compares two runs. R1 Logs are opened read-only; exported files become logs of their own. */
import type { Command } from 'commander';
import { EXIT_DIFFERENT, EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { TARGET, withLogs, withTargets, type Target } from './targets.ts';

interface DiffOptions extends DataOptions {
  readonly json?: boolean;
}

export const addDiff = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('diff'))
      .argument('<run-a>', `${TARGET}; of a thread its last run`)
      .argument('<run-b>', 'the same'),
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
        '0 equal, 1 different, 2 wrong option, 3 unknown run, or the log or a file cannot be opened',
        'diff 01a20dad-668f 01a20dad-b155',
        'diff monday.rewound tuesday.rewound',
        'diff monday.rewound:01a20dad-668f 01a20dad-b155 --json',
      ),
    )
    .action(async (a: string, b: string, options: DiffOptions) =>
      finish(await withTargets([a, b], options, host, (targets) => compare(targets, options, host))),
    );

async function compare(
  targets: readonly Target[],
  { json = false }: DiffOptions,
  host: Host,
): Promise<number> {
  const { findRun } = await import('../past/find.ts');
  const { diffRuns } = await import('../past/tell/run-diff.ts');
  const { printDiff } = await import('../past/tell/print-diff.ts');
  return withLogs(targets, async (logs) => {
    const [a, b] = await Promise.all(
      logs.map(async ({ history, name }) => ({ source: history, run: await findRun(history, name) })),
    );
    const diff = await diffRuns(a!, b!);
    if (json) host.print(JSON.stringify(diff));
    else printDiff(diff, host.print);
    return diff.equal ? EXIT_OK : EXIT_DIFFERENT;
  });
}
