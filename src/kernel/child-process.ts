import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ownModule } from './own-modules.ts';

/** Starts a module of this program (see `ownModule`) in a process of its own, with a channel for messages. */
export function startProcess(module: string): ChildProcess {
  return fork(fileURLToPath(ownModule(module)), [], {
    // Node itself loads the module, built or not: a loader of this process would only make the start slower.
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** The command that runs a module of this program in a process of its own. */
export const ownProcess = (
  module: string,
): { readonly command: string; readonly args: readonly string[] } => ({
  command: process.execPath,
  args: [fileURLToPath(ownModule(module))],
});
