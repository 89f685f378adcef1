/** The `show` command: tells the story of a thread or run, or reports a run. R1 It imports no module with effects. */
import type { Command } from 'commander';
import { shortId } from '../kernel/ids.ts';
import { PRODUCT } from '../kernel/product.ts';
import type { History } from '../store/port/past.ts';
import type { ShowOptions as TellOptions } from '../past/tell/command.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { projectFolders } from './project-folders.ts';
import { TARGET, withLogs, withTargets, type Target } from './targets.ts';

export interface ShowOptions extends TellOptions, DataOptions {
  readonly markdown?: boolean;
  readonly maxCharacters?: string;
}

export const addShow = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(withDataOption(program.command('show')).argument('<id>', TARGET))
    .option('--markdown', 'report a run for a colleague or a coding agent: failure, input, state, calls')
    .option('--max-characters <count>', 'with --markdown: a longer report than 8000 characters')
    .option('--to <position>', 'the state of the thread after this position of the log')
    .option('--ids', 'print ids whole')
    .summary('tell the story of a thread or run')
    .description(
      'Tells what happened on a thread or in a run: nodes, durations, tokens, questions, failures with their lines of ' +
        'code. Changes nothing, and may run beside the server.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 shown, 2 wrong option, 3 there is no such thread or run, or the log cannot be opened',
        'show 01a20dad-6682',
        'show 01a20dad-668f --markdown',
        'show 01a20dad-6682 --to 42',
        'show trip.rewound',
      ),
    )
    .action(async (given: string, options: ShowOptions) => {
      await withTargets([given], options, host, (targets) => show(targets, options, host));
      finish(EXIT_OK);
    });

export const show = (targets: readonly Target[], options: ShowOptions, host: Host): Promise<void> =>
  withLogs(targets, async (logs) => {
    const { tellPast } = await import('../past/tell/command.ts');
    const folders = projectFolders(options, host);
    for (const { history, name } of logs) {
      if (options.markdown === true) host.print(await reportOf(history, name, { ...options, folders }));
      else {
        const run = await tellPast(history, name, options, { ...host, folders });
        if (run !== undefined && options.json !== true) host.print(`\n${hintOf(run)}`);
      }
    }
  });

const hintOf = (runId: string): string =>
  `Look on with ${PRODUCT} calls ${shortId(runId)}, rerun ${shortId(runId)}, show ${shortId(runId)} --markdown`;

async function reportOf(
  history: History,
  name: string | undefined,
  { maxCharacters, folders, config, data }: ShowOptions & { readonly folders: readonly string[] },
): Promise<string> {
  const report = await import('../past/report/run-report.ts');
  const { findRun } = await import('../past/find.ts');
  const [least, most] = [report.DEFAULT_REPORT_CHARACTERS, report.MAX_REPORT_CHARACTERS];
  const max = maxCharacters === undefined ? least : Number(maxCharacters);
  if (!Number.isInteger(max) || max < least || max > most)
    throw new Error(`--max-characters: expected a number from ${least} to ${most}, found "${maxCharacters}"`);
  const given = Object.entries({ config, data }).filter(([, value]) => value !== undefined);
  const text = await report.reportRun(history, await findRun(history, name), {
    ...{ maxCharacters: max, folders, quotesImported: true },
    args: given.map(([option, value]) => ` --${option} ${quoted(value!)}`).join(''),
  });
  return text.trimEnd();
}

/** Quotes an argument for a shell. */
const quoted = (text: string): string =>
  /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
