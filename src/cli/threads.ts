/** The `threads` command: lists the threads of a log. R1 It imports no module with effects. */
import { Option, type Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import type { TellOptions } from '../past/tell/command.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openPast, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { projectFolders } from './project-folders.ts';

interface ThreadsOptions extends TellOptions, DataOptions {
  readonly all?: boolean;
  readonly status?: string;
  readonly graph?: string;
  readonly since?: string;
  readonly user?: string;
  readonly limit?: string;
}

export const addThreads = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(program.command('threads')).argument(
      '[text]',
      'only threads with this text in their id, first input or error',
    ),
  )
    .addOption(
      new Option('--status <status>', 'only threads of this status').choices([
        ...['idle', 'busy', 'interrupted', 'error'],
      ]),
    )
    .option('--graph <id>', 'only threads of this graph')
    .option('--since <time>', 'only threads that changed since then: 2026-11-24, 30m, 12h, 7d')
    .option('--user <identity>', 'only threads that this user began')
    .option('--limit <count>', 'the newest ones alone')
    .option('--all', 'threads of stateless runs and of crons, too')
    .option('--ids', 'print ids whole')
    .summary('list the threads')
    .description(
      'Lists the threads of the log, newest first: graph, status, first message, last error. May run beside the server.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 listed, 2 wrong option, 3 the log cannot be opened',
        'threads',
        'threads --status error --since 24h',
        'threads refund --graph agent --limit 10 --json',
      ),
    )
    .action(async (text: string | undefined, options: ThreadsOptions) => {
      const history = await openPast(options, host);
      try {
        await listThreads(history, { ...options, text }, host);
      } finally {
        await history.close();
      }
      finish(EXIT_OK);
    });

export async function listThreads(
  history: Awaited<ReturnType<typeof openPast>>,
  { since, limit, ...options }: ThreadsOptions & { readonly text?: string | undefined },
  host: Host,
): Promise<void> {
  const { tellThreads } = await import('../past/tell/command.ts');
  if (limit !== undefined && !/^[1-9]\d*$/.test(limit))
    throw new Error(`--limit: expected a number from 1, found "${limit}"`);
  const { status, graph, user, text, all } = options;
  const filter = Object.fromEntries(
    Object.entries({
      ...{ status, graph, user, text, all },
      ...{ limit: limit && Number(limit), since: since && timeOf(since, systemClock().now()) },
    }).filter(([, value]) => value !== undefined),
  );
  await tellThreads(history, filter, options, { ...host, folders: projectFolders(options, host) });
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds since 1970 of a time, or of an age such as `12h`. */
function timeOf(text: string, now: number): number {
  const [, amount, unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const at = amount === undefined ? Date.parse(text) : now - Number(amount) * UNIT_MS[unit]!;
  if (Number.isNaN(at)) throw new Error(`--since: expected a time, or 30m, 12h, 7d, found "${text}"`);
  return at;
}
