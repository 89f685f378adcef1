/** The `replay` command: reads the log of a data directory. R1 It imports no module with effects; only `--execute` imports graphs. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import type { Store } from '../open-store.ts';
import { EXIT_OK, orUntried } from './exit-codes.ts';
import { PRODUCT } from '../kernel/product.ts';
import { loadConfig } from '../config/load.ts';
import type { ReexecuteOptions } from '../past/reexecution/command.ts';
import type { ReplayOptions } from '../past/tell/command.ts';
import { enterProject } from './enter-project.ts';
import type { Finish, Host } from './host.ts';
import {
  openStore,
  withDataOption,
  withJsonOption,
  withRunOption,
  withThreadOption,
  type DataOptions,
} from './options.ts';
import { throwFileFailure } from './refused-file.ts';

interface ExecuteOptions extends ReplayOptions, ReexecuteOptions, DataOptions {
  readonly execute?: boolean;
}

const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

export const addReplay = (program: Command, host: Host, finish: Finish): Command =>
  withExecution(withReading(program.command('replay')))
    .argument('[file...]', `exported threads (${PRODUCT} export), instead of a folder`)
    .summary('read what happened from the log, or execute runs again')
    .description(
      'Reads what happened from the log: the threads, the story of one, its state at any position. With --execute it ' +
        'executes runs again, offline: what their models and tools answered comes from their recordings, and every ' +
        'checkpoint, write and frame is compared with the log. Changes nothing, sends nothing, and may run beside the ' +
        'server.',
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 done or equal, 1 a run differs, 2 wrong option, 3 a run could not be executed again or a file ' +
        'not be opened, 70 the disk failed\n' +
        `\nExamples:\n  ${PRODUCT} replay\n  ${PRODUCT} replay --thread 01a20dad-6682\n` +
        `  ${PRODUCT} replay --thread 01a20dad-6682 --to 42\n  ${PRODUCT} replay --data /var/lib/my-project --all\n` +
        `  ${PRODUCT} replay --thread 01a20dad-6682 --execute\n` +
        `  ${PRODUCT} replay --thread 01a20dad-6682 --run 01a20dad-66aa --execute --break agent --inspect\n` +
        `  ${PRODUCT} replay --check exports/*.${PRODUCT}`,
    )
    .action(async (files: readonly string[], { config, data, ...options }: ExecuteOptions) => {
      if (files.length === 0) {
        const { store } = await openStore({ config, data }, host);
        return finish(await replayStores([store], { config, ...options }, host));
      }
      const { withImported } = await import('./scratch-store.ts');
      const paths = files.map((file) => resolve(host.cwd, file));
      const say = (text: unknown): void => host.printError(String(text));
      finish(
        await withImported(paths, systemClock(), say, (stores) =>
          replayStores(stores, { config, ...options }, host),
        ).catch((error: unknown) => throwFileFailure(error)),
      );
    });

const withReading = (command: Command): Command =>
  withJsonOption(withThreadOption(withDataOption(command), 'what happened on this thread'))
    .option('--to <position>', 'with --thread: the state of the thread after this position of the log')
    .option('--cron <id>', 'the slots of this cron')
    .option('--all', 'list threads of stateless runs and of crons, too')
    .option('--ids', 'print ids whole');

const withExecution = (command: Command): Command =>
  withRunOption(
    command
      .optionsGroup('Executing runs again:')
      .option('--execute', 'execute runs again and compare them with the log')
      .option('--check', 'the same, in one line for each run that does not differ'),
    'with --thread: one run of it',
  )
    .option(
      '--match <how>',
      'exact: another request ends it; url: the recorded answer of the URL goes on',
      'exact',
    )
    .option('--stub <node>', 'take the writes of this node from the log; repeatable', collect)
    .option('--from <checkpoint>', 'start behind this checkpoint of the run')
    .option('--set <key=value>', 'change the input, or with --from the state, first; repeatable', collect)
    .option('--answer <n=file>', 'let recorded exchange n answer with this file; repeatable', collect)
    .option('--allow-unused', 'recorded requests and store writes that are not made are no difference')
    .option('--live', 'go on with the real network where the recording ends')
    .option('--env <file>', 'environment variables that win over the recorded ones')
    .option('--break <node>', 'stop before this node')
    .option('--inspect', 'wait for a debugger; with --break it stops there')
    .option('--har <file>', 'write the recorded exchanges of a run as a HAR file');

async function replayStores(
  stores: readonly Store[],
  { config, execute, ...options }: ExecuteOptions,
  host: Host,
): Promise<number> {
  const logs = stores.map(
    ({ openPast }) =>
      () =>
        orUntried(openPast),
  );
  if (execute === true || options.check === true || options.har !== undefined) {
    const loaded = loadConfig({ config }, host.env, host.cwd);
    enterProject(loaded, host.env);
    const { runReexecution } = await import('../past/reexecution/command.ts');
    const { graphs, runTimeoutMs: timeoutMs } = loaded;
    return runReexecution(logs, options, { graphs, timeoutMs, print: host.print });
  }
  const { runReplay } = await import('../past/tell/command.ts');
  let code = EXIT_OK;
  for (const log of logs) code = Math.max(code, await runReplay(log, options, host));
  return code;
}
