/**
 * Starts the process in which recorded runs are executed again. R1 It is closed three times: in the process itself
 * (recording/outside.ts), by Node's permissions, and by a network namespace of its own where the system gives it one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ownProcess } from '../../kernel/child-process.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { StoredCheckpoint } from '../../store/port/payloads.ts';
import { PRODUCT } from '../../kernel/product.ts';
import type { ClosedOptions, FromClosed, LogReads, Opening, ToClosed } from './closed-messages.ts';
import { serveCompiler } from './compiling.ts';
import type { Reexecution } from './execute.ts';
import type { RunData } from './run-data.ts';

export interface ProcessOptions extends Opening {
  readonly memoryMb: number;
  /** Limit of one run. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Where what graph code prints is shown. */
  readonly output: 'stdout' | 'stderr' | 'nowhere';
  /** Requests may reach the network. */
  readonly live: boolean;
}

export interface ClosedProcess {
  /** What holds: part of the report. */
  readonly closedBy: readonly string[];
  /** Resolves with the result, or with the reason why there is none. */
  execute(data: RunData, options: ClosedOptions): Promise<Reexecution | string>;
  /** Ends the process. Resolves with what its code was refused after its run. */
  end(): Promise<readonly string[]>;
}

/** Standard output of the closed process, as a descriptor of this one. */
const OUTPUT = { stdout: 1, stderr: 2, nowhere: 'ignore' } as const;

let namespace: readonly string[] | undefined;

/**
 * The command that starts a program in a network namespace of its own; empty where there is none. A user namespace, which
 * others than root need for it, takes from root the access to files of other users.
 */
function ownNetwork(): readonly string[] {
  const flags = process.platform !== 'linux' ? [] : process.getuid!() === 0 ? ['-n', '-cn'] : ['-cn'];
  const flag = flags.find((each) => spawnSync('unshare', [each, 'true']).status === 0);
  return flag === undefined ? [] : ['unshare', flag];
}

export function startClosed({ graphs, env, ...options }: ProcessOptions): ClosedProcess {
  const { memoryMb, timeoutMs, clock, output, live } = options;
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), `${PRODUCT}-`)));
  const network = live ? [] : (namespace ??= ownNetwork());
  const permissions = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${scratch}`];
  const own = ownProcess('past/reexecution/closed-entry', memoryMb, process.env, [
    ...(live ? [] : [...permissions, `--allow-fs-write=${devNull}`]),
  ]);
  const command = [...network, own.command, ...own.args];
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...process.env, ...own.env, TMPDIR: scratch, TMP: scratch, TEMP: scratch },
    stdio: ['ignore', OUTPUT[output], 'pipe', 'ipc', 'pipe'],
    serialization: 'advanced',
  });
  const late: string[] = [];
  let errors = '';
  let onResult: (result: Reexecution | string) => void = () => undefined;
  let reads: LogReads | undefined;
  serveCompiler(child.stdio[4] as Duplex, (what) => late.push(what));
  child.stderr!.on('data', (text: Buffer) => {
    errors = `${errors}${text.toString()}`.slice(-MAX_ERROR_UTF16_UNITS);
    if (output !== 'nowhere') process.stderr.write(text);
  });
  // The exit tells why the process could not take a message.
  const send = (message: Opening | ToClosed): void => void child.send(message, () => undefined);
  /** Resolves with the reason why there will be no further result. */
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(reasonOf(code, signal, errors)));
  });
  void exited.then(() => {
    process.off('exit', kill);
    rmSync(scratch, { recursive: true, force: true });
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);

  async function read({ id, name, args }: Extract<FromClosed, { kind: 'ask' }>): Promise<void> {
    try {
      const value = await (reads![name] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
      send({ kind: 'read', id, value });
    } catch (error) {
      send({ kind: 'read', id, error: (error as Error).message });
    }
  }
  child.on('message', (message: FromClosed) => {
    if (message.kind === 'ask') void read(message);
    else onResult(message.kind === 'end' ? message.result : message.reason);
  });
  send({ graphs, env });

  return {
    closedBy: live ? [] : ['patches', 'permissions', ...(network.length > 0 ? ['network namespace'] : [])],
    async execute({ before, listBefore, writesBefore, ...data }, given) {
      reads = { before, listBefore, writesBefore };
      const known = await readKnown(data, before);
      const result = new Promise<Reexecution | string>((resolve) => (onResult = resolve));
      let isLate = false;
      const cancel = clock.after(timeoutMs, () => {
        isLate = true;
        kill();
      });
      send({ kind: 'run', data, known, options: given });
      const found = await Promise.race([result, exited]);
      cancel();
      return isLate ? `the run took longer than ${timeoutMs} ms` : found;
    },
    async end() {
      // Node emits no `close` after a disconnect of this side.
      send({ kind: 'leave' });
      const cancel = clock.after(END_TIMEOUT_MS, kill);
      await exited;
      cancel();
      return late;
    },
  };
}

/** The checkpoints that the recorded run read, and its base. */
async function readKnown(
  { base, parts }: Pick<RunData, 'base' | 'parts'>,
  before: LogReads['before'],
): Promise<StoredCheckpoint[]> {
  const wanted = new Map<string, string>(base === null ? [] : [[base, '']]);
  for (const part of parts)
    if (part.kind === 'loaded' && part.checkpointId !== null) wanted.set(part.checkpointId, part.ns);
  const known = await Promise.all([...wanted].map(([id, ns]) => before(ns, id)));
  return known.filter((each) => each !== undefined);
}

const MAX_ERROR_UTF16_UNITS = 10_000;
/** Time limit for exit handlers of graph code. */
const END_TIMEOUT_MS = 2_000;

function reasonOf(code: number | null, signal: string | null, errors: string): string {
  const error = errors.split('\n').findLast((line) => /\berror\b/i.test(line));
  const end = `the process ended with ${signal ?? code}`;
  return error === undefined ? end : `${end}: ${error.trim()}`;
}
