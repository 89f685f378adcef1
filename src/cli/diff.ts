/** The `diff` command: compares two runs. R1 It imports no module with effects. */
import type { Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_DIFFERENT, EXIT_OK } from './exit-codes.ts';
import type { Finish, Host } from './host.ts';
import { openPast, withDataOption, withJsonOption, type DataOptions } from './options.ts';

const RUN = 'a run, or a thread for its last run; the first characters of an id are enough';

export const addDiff = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('diff')).argument('<run-a>', RUN).argument('<run-b>', 'the same'),
    'print {equal, a, b, first, steps, state}',
  )
    .summary('compare two runs')
    .description(
      'Compares two runs: steps side by side, the first divergence, what differs in the state, durations and tokens. ' +
        'Ids, times and durations within values are no differences. Changes nothing, and may run beside the server. ' +
        'Exits with 0 when the runs are equal, and with 1 when they differ.',
    )
    .addHelpText('after', `\nExample:\n  ${PRODUCT} diff 01a20dad-668f 01a20dad-b155`)
    .action(async (a: string, b: string, { json = false, ...options }: DataOptions & { json?: boolean }) => {
      const { findRun } = await import('../replay/find-run.ts');
      const { compareRuns } = await import('../replay/run-diff.ts');
      const { printDiff } = await import('../replay/print-diff.ts');
      const history = await openPast(options, host);
      try {
        const [runA, runB] = [await findRun(history, a), await findRun(history, b)];
        const diff = await compareRuns({ source: history, run: runA }, { source: history, run: runB });
        if (json) host.print(JSON.stringify(diff));
        else printDiff(diff, host.print);
        finish(diff.equal ? EXIT_OK : EXIT_DIFFERENT);
      } finally {
        history.close();
      }
    });
