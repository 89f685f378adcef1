/** The `calls` command: lists what a recorded run asked and was answered. R1 It imports no module with effects. */
import type { Command } from 'commander';
import type { Host, Finish } from './host.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import { withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { TARGET, withLogs, withTargets } from './targets.ts';

interface CallsOptions extends DataOptions {
  readonly json?: boolean;
}

export const addCalls = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('calls'))
      .argument('<run>', `${TARGET}; of a thread its last run`)
      .argument('[n]', 'one of the calls, whole'),
    'print {run_id, thread_id, exchanges}',
  )
    .summary('number what a recorded run asked and was answered')
    .description(
      'Numbers the calls that a run made over HTTP, with what was asked and answered, as its recording has them. ' +
        '"rerun --answer N=FILE" changes answer N. Secrets read as their stand-ins.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 listed, 2 wrong option, 3 there is no such run or call, or the log cannot be opened',
        'calls 01a20dad-668f',
        'calls 01a20dad-668f 2',
        'calls trip.rewound --json',
      ),
    )
    .action(async (run: string, n: string | undefined, options: CallsOptions) => {
      await withTargets([run], options, host, (targets) =>
        withLogs(targets, async ([log]) => {
          const { tellCalls } = await import('../past/report/calls.ts');
          await tellCalls(log!.history, log!.name, { ...options, n }, host.print);
        }),
      );
      finish(EXIT_OK);
    });
