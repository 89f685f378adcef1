import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isBuilt, ownModule } from './own-modules.ts';

const loader = (): string[] => (isBuilt ? [] : ['--import', import.meta.resolve('tsx')]);

/** Starts a module of this program (see `ownModule`) in a process of its own, with a channel for messages. */
export function startProcess(module: string): ChildProcess {
  return fork(fileURLToPath(ownModule(module)), [], {
    execArgv: loader(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** The command that runs a module of this program in a process of its own. */
export const ownProcess = (
  module: string,
): { readonly command: string; readonly args: readonly string[] } => ({
  command: process.execPath,
  args: [...loader(), fileURLToPath(ownModule(module))],
});
