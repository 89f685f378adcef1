/** A command that starts the program as its child, as `npx` does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Group {
  /** Resolves as soon as the output matches; rejects with the output when the command ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Asks all of its processes to stop and waits for the end. */
  end(): Promise<void>;
}

/** Lends the running command to `use`; what is left of it is killed at the end. */
export async function withGroup<T>(
  [command, ...args]: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  use: (group: Group) => Promise<T>,
): Promise<T> {
  const child = spawn(command!, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'close');
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // all of them are gone
    }
  };
  let output = '';
  try {
    return await use({
      printed: (pattern) =>
        new Promise((resolve, reject) => {
          for (const stream of [child.stdout, child.stderr])
            stream.setEncoding('utf8').on('data', (text: string) => {
              output += text;
              const match = pattern.exec(output);
              if (match !== null) resolve(match);
            });
          void exited.then(() => reject(new Error(`the command ended:\n${output}`)));
        }),
      async end() {
        signal('SIGTERM');
        await exited;
      },
    });
  } finally {
    signal('SIGKILL');
  }
}
