/** The `replay` command: reads the log of a data directory. R1 It imports no module with effects; only `--execute` imports graphs. */
import type { Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import { loadConfig } from '../config/load.ts';
import type { ReexecuteOptions } from '../reexecution/command.ts';
import type { ReplayOptions } from '../replay/command.ts';
import { enterProject } from './enter-project.ts';
import { orUntried } from './exit-codes.ts';
import type { Finish, Host } from './host.ts';
import {
  addressOfStore,
  withDataOption,
  withJsonOption,
  withThreadOption,
  type DataOptions,
} from './options.ts';

type ExecuteOptions = ReplayOptions & ReexecuteOptions & DataOptions & { readonly execute?: boolean };

const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];

export const addReplay = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(withThreadOption(withDataOption(program.command('replay')), 'what happened on this thread'))
    .summary('read what happened from the log')
    .description(
      'Reads what happened from the log: the threads, the story of one, its state at any position. Changes nothing, ' +
        'starts nothing, and may run beside the server.',
    )
    .option('--to <position>', 'with --thread: the state of the thread after this position of the log')
    .option('--cron <id>', 'the slots of this cron')
    .option(
      '--execute',
      'execute runs again, offline, and compare them with the log; exits 1 when one differs, 3 when one could not be tried',
    )
    .option('--run <id>', 'with --thread: one run of it')
    .option(
      '--match <how>',
      'exact: another request ends it; url: the recorded answer of the URL goes on',
      'exact',
    )
    .option('--stub <node>', 'take the writes of this node from the log; repeatable', collect, [])
    .option('--from <checkpoint>', 'start behind this checkpoint of the run')
    .option('--set <key=value>', 'change the input, or with --from the state, first; repeatable', collect, [])
    .option('--answer <n=file>', 'let recorded exchange n answer with this file; repeatable', collect, [])
    .option('--live', 'go on with the real network where the recording ends')
    .option('--env <file>', 'environment variables that win over the recorded ones')
    .option('--break <node>', 'stop before this node')
    .option('--inspect', 'wait for a debugger; with --break it stops there')
    .option('--har <file>', 'write the recorded exchanges of a run as a HAR file')
    .option('--all', 'list threads of stateless runs and of crons, too')
    .option('--ids', 'print ids whole')
    .addHelpText(
      'after',
      `\nExamples:\n  ${PRODUCT} replay\n  ${PRODUCT} replay --thread 01a20dad-6682\n` +
        `  ${PRODUCT} replay --thread 01a20dad-6682 --to 42\n  ${PRODUCT} replay --data /var/lib/my-project --all`,
    )
    .action(async ({ config, data, execute, ...options }: ExecuteOptions) => {
      const { storeAt } = await import('../open-store.ts');
      const store = storeAt(addressOfStore({ config, data }, host));
      if (execute === true || options.har !== undefined) {
        const loaded = loadConfig({ config, data }, host.env, host.cwd);
        enterProject(loaded, host.env);
        const { runReexecution } = await import('../reexecution/command.ts');
        const { graphs } = loaded;
        return finish(await runReexecution(store.openPast, options, { graphs, print: host.print }));
      }
      const { runReplay } = await import('../replay/command.ts');
      finish(await runReplay(() => orUntried(store.openPast), options, host));
    });
