import { spawn } from 'node:child_process';

export interface ChildOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  /** Hears of the whole output so far whenever there is more. */
  readonly onOutput?: (output: string) => void;
}

export interface ChildResult {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly timedOut: boolean;
  /** Standard output and error, without colours. */
  readonly output: string;
  readonly ms: number;
}

/**
 * Runs a command as leader of its own process group. The group is killed when the leader exits, after `timeoutMs`, and
 * when `signal` aborts.
 */
export function runChild(
  command: string,
  args: readonly string[],
  { timeoutMs, signal, env = {}, onOutput = () => undefined }: ChildOptions,
): Promise<ChildResult> {
  const start = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let timedOut = false;
    const hear = (text: string): void => {
      output += withoutColours(text);
      onOutput(output);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);

    const killGroup = (): void => {
      if (child.pid === undefined) return; // never started
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // the whole group is gone already
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup();
    }, timeoutMs);
    signal.addEventListener('abort', killGroup, { once: true });
    if (signal.aborted) killGroup();

    child.on('error', (error) => (output += `${command}: ${error.message}\n`));
    child.on('exit', killGroup); // a surviving grandchild keeps the pipes open and prevents 'close'
    child.on('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', killGroup);
      resolve({ code, timedOut, output, ms: Math.round(performance.now() - start) });
    });
  });
}

const withoutColours = (text: string): string => text.replace(/\u001b\[[0-9;]*m/g, '');
