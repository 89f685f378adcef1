/** The `rerun` command: executes runs again, offline. R1 Its graphs reach nothing outside. */
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { loadConfig } from '../config/load.ts';
import { foldersOf } from '../config/project-folders.ts';
import type { RerunOptions } from '../past/reexecution/command.ts';
import { enterProject } from './enter-project.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openPast, withDataOption, withJsonOption, type DataOptions } from './options.ts';
import { TARGET, withTargets } from './targets.ts';

type Options = RerunOptions & DataOptions;

const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

export const addRerun = (program: Command, host: Host, finish: Finish): Command =>
  withExecution(
    withJsonOption(
      withDataOption(program.command('rerun')).argument(
        '[target...]',
        `${TARGET}; all runs of the log without any`,
      ),
    ),
  )
    .summary('execute runs again, offline, and compare them with the log')
    .description(
      'Executes runs again, offline: what their models and tools answered comes from their recordings, and every ' +
        'checkpoint, write and frame is compared with the log. Changes nothing and sends nothing.\n\nWith --check a run ' +
        'that failed when it was recorded fails until the code is mended, or until --update says that it is to fail. ' +
        'Expectations are kept in FILE.expected.json.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 equal, 1 a run differs or fails, 2 wrong option, 3 a run cannot be executed again or is missing, 70 the disk failed',
        'rerun 01a20dad-668f',
        'rerun 01a20dad-668f --break agent --inspect',
        'rerun 01a20dad-668f --answer 2=answer.json',
        'rerun --check tests/*.rewound --reporter github',
        'rerun --check tests/trip.rewound --update',
      ),
    )
    .action(async (targets: readonly string[], options: Options) =>
      finish(await rerunAll(targets, options, host)),
    );

export const withExecution = (command: Command): Command =>
  command
    .option('--check', 'one line a run; a run that failed is to fail no more')
    .addOption(
      new Option('--reporter <name>', 'with --check: the form of the lines').choices(['text', 'github']),
    )
    .option('--update', 'with --check: what the runs of exported files do now is what they are to do')
    .option(
      '--match <how>',
      'exact: another request ends it; url: the recorded answer of the URL goes on',
      'exact',
    )
    .option('--stub <node>', 'take the writes of this node from the log; repeatable', collect)
    .option('--from <checkpoint>', 'start behind this checkpoint of the run')
    .option('--set <key=value>', 'change the input, or with --from the state, first; repeatable', collect)
    .option('--answer <n=file>', 'let call n answer with this file; repeatable', collect)
    .option('--allow-unused', 'recorded requests and store writes that are not made are no difference')
    .option('--live', 'go on with the real network where the recording ends')
    .option('--env <file>', 'environment variables that win over the recorded ones')
    .option('--break [node]', 'stop before this node, or the one that failed')
    .option('--inspect', 'wait for a debugger; with --break it stops in the node')
    .option('--har <file>', 'write the recorded calls of a run as a HAR file');

export async function rerunAll(given: readonly string[], options: Options, host: Host): Promise<number> {
  const { config, data, ...rest } = options;
  const loaded = loadConfig({ config }, host.env, host.cwd);
  return withTargets(given, options, host, async (named) => {
    const targets =
      given.length === 0 ? [{ name: undefined, open: () => openPast({ config, data }, host) }] : named;
    const paths = {
      ...(rest.env !== undefined && { env: resolve(host.cwd, rest.env) }),
      ...(rest.har !== undefined && { har: resolve(host.cwd, rest.har) }),
      ...(rest.answer !== undefined && { answer: rest.answer.map((text) => resolveAnswer(text, host.cwd)) }),
    };
    enterProject(loaded, host.env);
    const { rerun } = await import('../past/reexecution/command.ts');
    const { graphs, runTimeoutMs: timeoutMs } = loaded;
    return rerun(
      targets,
      { ...rest, ...paths },
      {
        ...{ graphs, timeoutMs, folders: foldersOf(loaded) },
        ...{ env: host.env, cwd: host.cwd, print: host.print },
      },
    );
  });
}

/** Makes the path in `N=FILE` absolute. */
const resolveAnswer = (text: string, cwd: string): string =>
  text.replace(/^(\d+=)(.+)$/s, (_, n: string, file: string) => n + resolve(cwd, file));
