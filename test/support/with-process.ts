/** The real program as a process of its own: started, watched, killed, started again on the same data. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PROJECT } from './with-server.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface ProcessOptions {
  readonly dir: string;
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything printed so far, both channels. */
  readonly output: () => string;
  /** Sends the signal and waits for the end; resolves with the exit code, null when a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

/** Starts `serve` on a free port and waits for its address. Rejects with its output when it ends before. */
export async function startProcess({
  dir,
  config = join(PROJECT, 'platform.json'),
  env = {},
  args = [],
}: ProcessOptions): Promise<ServerProcess> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(ROOT, 'scripts/start.mjs'), 'serve', '--config', config, '--port', '0', '--data', dir, ...args],
    { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const url = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!])
      createInterface({ input: stream }).on('line', (line) => {
        output += `${line}\n`;
        const match = /^Serving on\s+(\S+)/.exec(line);
        if (match?.[1] !== undefined) resolve(match[1]);
      });
    void exited.then((code) => reject(new Error(`the server ended with ${code}:\n${output}`)));
  });
  return {
    url: await url,
    pid: child.pid!,
    output: () => output,
    exited,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}
