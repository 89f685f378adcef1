/** The `verify` command: checks that everything derived agrees with the log. R1 It imports no module with effects. */
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { EXIT_DIFFERENT, EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openPast, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { openProgress } from './progress.ts';

export const addVerify = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('verify')),
    'print {ok, events, streams, position, problem, not_checked}',
  )
    .summary('check a log against its invariants')
    .description(
      'Checks the whole log: the file, every event against the state machines, every snapshot, row and payload ' +
        'against the events. Changes nothing, and may run beside the server. Names the position of the first ' +
        'difference.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 all agrees, 1 something differs, 2 wrong option, 3 the log cannot be opened',
        'verify',
        'verify --data /var/lib/my-project --json',
      ),
    )
    .action(async ({ json = false, ...options }: DataOptions & { json?: boolean }) => {
      const { verify } = await import('../past/verify/verify.ts');
      const history = await openPast(options, host);
      const progress = openProgress(host, systemClock());
      try {
        const { events, streams, finding } = await verify(history, progress.report);
        progress.clear();
        const ok = finding === undefined;
        const { leavesOut } = history;
        if (json)
          host.print(
            JSON.stringify({ ok, events, streams, ...finding, ...(leavesOut && { not_checked: leavesOut }) }),
          );
        else if (ok)
          host.print(
            `verified: ${events} events in ${streams} streams, every row, snapshot and machine agrees` +
              (leavesOut === undefined ? '' : `\nnot checked: ${leavesOut}`),
          );
        else host.print(`position ${finding.position ?? 'none'}: ${finding.problem}`);
        finish(ok ? EXIT_OK : EXIT_DIFFERENT);
      } finally {
        progress.clear();
        await history.close();
      }
    });
