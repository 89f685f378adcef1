import { fork, type ChildProcess } from 'node:child_process';
import { delimiter } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { ownModule } from './own-modules.ts';

/** Starts a module of this program (see `ownModule`) in a process with an IPC channel. */
export function startProcess(module: string): ChildProcess {
  return fork(fileURLToPath(ownModule(module)), [], {
    // Node loads the module without a loader, built or not: an inherited loader only delays the start.
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

export interface OwnProcess {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that the process needs in addition. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Returns the command that runs a module of this program; `heapMb` limits V8's old space, in MiB; `env`: its other
 * variables; `more`: options of Node without spaces.
 */
export function ownProcess(
  module: string,
  heapMb: number,
  env: NodeJS.ProcessEnv,
  more: readonly string[] = [],
): OwnProcess {
  const limits = [`--max-old-space-size=${heapMb}`, ...more];
  const script = fileURLToPath(ownModule(module));
  const command = process.execPath;
  if (!isSea()) return { command, args: [...limits, script], env: {} };
  // The single executable accepts no Node options as arguments; scripts/binary/entry.cjs reads these variables.
  const { NODE_OPTIONS = '', PATH = '' } = env;
  const { REWOUND_NODE_BIN = '' } = process.env;
  return {
    command,
    args: [script],
    env: {
      REWOUND_RUN_AS_NODE: '1',
      REWOUND_NODE_OPTIONS: NODE_OPTIONS,
      NODE_OPTIONS: [NODE_OPTIONS, ...limits].join(' '),
      PATH: [REWOUND_NODE_BIN, PATH].filter((part) => part !== '').join(delimiter),
    },
  };
}
