/** The `replay` command: the older name of `threads`, `show` and `rerun`. */
import type { Command } from 'commander';
import type { RerunOptions } from '../past/reexecution/command.ts';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openPast, withDataOption, withJsonOption, withRunOption, withThreadOption } from './options.ts';
import { rerunAll, withExecution } from './rerun.ts';
import { show, type ShowOptions } from './show.ts';
import { withLogs, withTargets } from './targets.ts';
import { listThreads } from './threads.ts';

interface ReplayOptions extends ShowOptions, RerunOptions {
  readonly thread?: string;
  readonly run?: string;
  readonly cron?: string;
  readonly all?: boolean;
  readonly execute?: boolean;
}

export const addReplay = (program: Command, host: Host, finish: Finish): Command =>
  withExecution(
    withRunOption(
      withJsonOption(
        withThreadOption(withDataOption(program.command('replay')), 'what happened on this thread'),
      ),
      'a run',
    )
      .argument('[file...]', 'exported threads, instead of a folder')
      .option('--to <position>', 'with --thread: the state of the thread after this position of the log')
      .option('--cron <id>', 'the slots of this cron')
      .option('--all', 'list threads of stateless runs and of crons, too')
      .option('--ids', 'print ids whole')
      .option('--execute', 'execute runs again'),
  )
    .summary('threads, show and rerun under their older name')
    .description(
      `The older name of three commands: without options "${PRODUCT} threads", with --thread "${PRODUCT} show", with ` +
        `--execute or --check "${PRODUCT} rerun".`,
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 done or equal, 1 a run differs, 2 wrong option, 3 missing, damaged or not tried',
        'replay --execute',
      ),
    )
    .action(async (files: readonly string[], options: ReplayOptions) =>
      finish(await replay(files, options, host)),
    );

async function replay(
  files: readonly string[],
  { thread, run, cron, execute, ...options }: ReplayOptions,
  host: Host,
): Promise<number> {
  if (options.to !== undefined && thread === undefined)
    throw new Error('--to: expected together with --thread');
  const name = run ?? thread ?? cron;
  const given =
    files.length === 0 ? [name ?? []].flat() : files.map((file) => [file, name ?? []].flat().join(':'));
  const { check, har, update, reporter } = options;
  if ([execute, check, har, update, reporter].some((each) => each !== undefined && each !== false))
    return rerunAll(given, options, host);
  await withTargets(given, options, host, async (targets) => {
    if (name !== undefined) return show(targets, options, host);
    const all = files.length === 0 ? [{ name, open: () => openPast(options, host) }] : targets;
    return withLogs(all, async (logs) => {
      for (const { history } of logs) await listThreads(history, options, host);
    });
  });
  return EXIT_OK;
}
