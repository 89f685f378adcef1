/**
 * Executes runs again for clients: the `replay` command in a process of its own, beside the graph workers and one at a
 * time. R1 The process has the log read-only and no network.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Config } from '../config/config.ts';
import type { Reexecutions } from '../http/runs/reexecutions.ts';
import { ownProcess } from '../kernel/child-process.ts';
import type { Clock } from '../kernel/clock.ts';
import { openGate } from '../kernel/gate.ts';

type Settings = Pick<Config, 'configFile' | 'dataDir' | 'runTimeoutMs' | 'workers'>;

export function openReexecutions(
  { configFile, dataDir, runTimeoutMs, workers }: Settings,
  clock: Clock,
  stopping: AbortSignal,
): Reexecutions {
  const gate = openGate(1);

  async function execute(args: readonly string[], signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const own = ownProcess('main', workers.memoryMb, process.env);
    const child = spawn(own.command, [...own.args, 'replay', ...args], {
      env: { ...process.env, ...own.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const cancel = clock.after(runTimeoutMs, () => child.kill('SIGKILL'));
    try {
      const [code, out, err] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
      const report = out.trim().split('\n').at(-1) ?? '';
      if (report.startsWith('{')) return report;
      return JSON.stringify({
        verdict: 'untried',
        reasons: [lastLine(err) ?? `the process ended with ${code}`],
      });
    } finally {
      cancel();
    }
  }

  return {
    report: ({ threadId, runId }, { match, stub, from, set }, signal) => {
      const args = [
        ...['--config', configFile, '--data', dataDir, '--thread', threadId, '--run', runId],
        ...['--execute', '--json', '--match', match],
        ...stub.flatMap((node) => ['--stub', node]),
        ...(from === undefined ? [] : ['--from', from]),
        ...Object.entries(set).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`]),
      ];
      const either = AbortSignal.any([signal, stopping]);
      return gate.enter(() => execute(args, either));
    },
  };
}

const lastLine = (output: string): string | undefined => output.trim().split('\n').at(-1) || undefined;
