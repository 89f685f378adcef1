/** Defines the command line, one file per command. The library handles `--help`, `--version` and misspelt names. */
import { Command, CommanderError } from 'commander';
import { PRODUCT, VERSION } from '../kernel/product.ts';
import { addCalls } from './calls.ts';
import { addBackup } from './backup.ts';
import { addDev } from './dev.ts';
import { EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import { addDiff } from './diff.ts';
import { addPin } from './pin.ts';
import { addDoctor } from './doctor.ts';
import { addExport } from './export.ts';
import type { Finish, Host } from './host.ts';
import { addImport } from './import.ts';
import { addInit } from './init.ts';
import { addMigrate } from './migrate.ts';
import { addOpen } from './open.ts';
import { addOpenapi } from './openapi.ts';
import { addRekey } from './rekey.ts';
import { addReplay } from './replay.ts';
import { addRerun } from './rerun.ts';
import { addShow } from './show.ts';
import { addThreads } from './threads.ts';
import { addRestore } from './restore.ts';
import { addServe } from './serve.ts';
import { addVerify } from './verify.ts';

const EXIT_CODES = `
Exit codes:
  0  done or equal; for a server: stopped by a signal after a clean stop
  1  a difference or problem was found, or the work failed
  2  wrong command, option or configuration, or what is to be written exists already
  3  something that is needed is missing, damaged or in use
  70 the disk failed; a restart decides what the last commit became`;

type Add = (program: Command, host: Host, finish: Finish) => Command;

/** Commands in the order of the help. */
const GROUPS: readonly (readonly [heading: string, readonly Add[]])[] = [
  ['Serve a project:', [addInit, addDev, addServe, addDoctor, addOpenapi]],
  ['Look back:', [addThreads, addShow, addCalls, addRerun, addDiff, addPin, addReplay]],
  ['Carry a thread or a log:', [addExport, addImport, addOpen]],
  ['Keep the log:', [addBackup, addRestore, addVerify, addRekey, addMigrate]],
];

/**
 * Resolves with the exit code of a finished command, or with undefined when the command continues in the background.
 * Rejects with the command's error.
 */
export async function runCommandLine(args: readonly string[], host: Host): Promise<number | undefined> {
  const program = new Command(PRODUCT)
    .description('Hosts agent graphs: durable threads, resumable runs, owed webhooks, replayable history.')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help for the program or a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.print(text.trimEnd()),
      writeErr: (text) => host.printError(text.trimEnd()),
    })
    .addHelpText('after', EXIT_CODES);
  let code: number | undefined = EXIT_OK;
  const finish = (of: number | undefined): void => void (code = of);
  for (const [group, adds] of GROUPS) {
    program.commandsGroup(group);
    for (const add of adds) {
      const command = add(program, host, finish);
      command.showHelpAfterError(`See "${PRODUCT} ${command.name()} --help".`);
    }
  }
  program.commandsGroup('Help:').helpCommand('help [command]', 'print help for a command');
  program.showHelpAfterError(`See "${PRODUCT} --help".`);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
  }
  return code;
}
