import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isBuilt, ownModule } from './own-modules.ts';

/** Starts a module of this program (see `ownModule`) in a process of its own, with a channel for messages. */
export function startProcess(module: string): ChildProcess {
  return fork(fileURLToPath(ownModule(module)), [], {
    execArgv: isBuilt ? [] : ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}
