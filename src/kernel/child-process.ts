import { fork, type ChildProcess } from 'node:child_process';
import { delimiter } from 'node:path';
import { isSea } from 'node:sea';
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

export interface OwnProcess {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that the process needs in addition. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a module of this program in a process of its own, with a limit for V8's old space in MiB. */
export function ownProcess(module: string, heapMb: number, env: NodeJS.ProcessEnv = process.env): OwnProcess {
  const limit = `--max-old-space-size=${heapMb}`;
  const script = fileURLToPath(ownModule(module));
  const command = process.execPath;
  if (!isSea()) return { command, args: [limit, script], env: {} };
  // The single executable takes no options of Node as arguments (scripts/binary/entry.cjs reads these variables).
  const { NODE_OPTIONS = '', PATH = '', REWOUND_NODE_BIN = '' } = { ...process.env, ...env };
  return {
    command,
    args: [script],
    env: {
      REWOUND_RUN_AS_NODE: '1',
      REWOUND_NODE_OPTIONS: NODE_OPTIONS,
      NODE_OPTIONS: `${NODE_OPTIONS} ${limit}`,
      PATH: [REWOUND_NODE_BIN, PATH].filter((part) => part !== '').join(delimiter),
    },
  };
}
