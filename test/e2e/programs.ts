/** The real program as processes of their own: started, watched, killed, started again on the same data. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/kernel/clock.ts';
import { within } from '../../src/kernel/within.ts';
import { withTempDir } from '../support/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'scripts/start.mjs');
/** For how long a program that has cut somebody off is waited for to say why. */
const LAST_WORDS_MS = 2_000;

interface Launch {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The script to run; the program itself unless told otherwise. */
  readonly script?: string;
  /** An executable to run instead, with `env` and nothing else as its environment. */
  readonly executable?: string;
  /** Shell command that comes before it in the same process, such as a limit. */
  readonly before?: string;
}

export interface Program {
  readonly pid: number;
  /** Everything printed so far, both channels. */
  output(): string;
  /** The exit code, null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Resolves as soon as the output matches; rejects with the output when the program ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, undefined when it is no JSON. Untyped, because its shape is what tests assert. */
  readonly json: any;
}

export interface ServerProgram extends Program {
  readonly url: string;
  readonly port: number;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The reply as soon as its headers are there. */
  open(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

export interface Programs {
  /** An empty directory of the test's own. */
  readonly dir: string;
  launch(launch: Launch): Program;
  /** Runs to the end. */
  run(launch: Launch): Promise<{ code: number | null; output: string }>;
  /**
   * Starts `serve` on a free port with the plain functions of the fixture project, which need no library: one takes
   * longer to load than the program. What `args` say comes last and wins.
   */
  launchServer(launch?: Launch): Program;
  /** The same, and waits for its address. */
  serve(launch?: Launch): Promise<ServerProgram>;
}

/** Lends a launcher to `use`; whatever it started and still runs is killed at the end. */
export async function withPrograms<T>(use: (programs: Programs) => Promise<T>): Promise<T> {
  return withTempDir(async (dir) => {
    const started: Program[] = [];
    const launch = (options: Launch): Program => {
      const program = spawnProgram(options);
      started.push(program);
      return program;
    };
    const programs: Programs = {
      dir,
      launch,
      async run(options) {
        const program = launch(options);
        return { code: await program.exited, output: program.output() };
      },
      launchServer({ args = [], ...rest } = {}) {
        const config = join(ROOT, 'test/fixtures/project/platform.functions.json');
        const own = ['serve', '--config', config, '--port', '0', '--data', join(dir, 'data')];
        return launch({ args: [...own, ...args], ...rest });
      },
      serve: (options) => asServer(programs.launchServer(options)),
    };
    try {
      return await use(programs);
    } finally {
      await Promise.all(started.map((program) => program.end('SIGKILL')));
    }
  });
}

/** A program that serves, once it has said where. */
export async function asServer(program: Program): Promise<ServerProgram> {
  const [, url] = await program.printed(/^Serving on\s+(\S+)$/m);
  const open: ServerProgram['open'] = (method, path, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  /** A reply that was cut off says nothing; the program's last words may. */
  const explain = async (what: string, error: Error): Promise<never> => {
    let end = 'not yet';
    await within(
      systemClock(),
      LAST_WORDS_MS,
      program.exited.then((code) => (end = String(code))),
    );
    throw new Error(`${what}: ${error.message}; the program ended: ${end}\n${program.output()}`);
  };
  return {
    ...program,
    url: url!,
    port: Number(new URL(url!).port),
    open,
    async ask(method, path, ...rest) {
      const response = await open(method, path, ...rest);
      const text = await response.text().catch((error: Error) => explain(`${method} ${path}`, error));
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return {
        status: response.status,
        headers: response.headers,
        json: isJson ? JSON.parse(text) : undefined,
      };
    },
  };
}

function spawnProgram(launch: Launch): Program {
  const { args = [], env = {}, cwd = ROOT, script = MAIN, executable, before } = launch;
  const command = executable === undefined ? [process.execPath, script, ...args] : [executable, ...args];
  const shell = before === undefined ? command : ['bash', '-c', `${before}; exec "$@"`, 'bash', ...command];
  const child = spawn(shell[0]!, shell.slice(1), {
    cwd,
    // One graph worker, unless the test is about them: each more costs as much as the start of the rest.
    // And time to stop, which a busy machine takes.
    env: {
      ...(executable === undefined && withoutSettings(process.env)),
      PLATFORM_WORKERS: '1',
      PLATFORM_STOP_GRACE_SECS: '5',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of watchers) look();
    });
  // Not 'exit': the last words come after it.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    pid: child.pid!,
    output: () => output,
    exited,
    printed(pattern) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(output);
          if (match === null) return;
          watchers.delete(look);
          resolve(match);
        };
        watchers.add(look);
        look();
        void exited.then((code) => reject(new Error(`the program ended with ${code}:\n${output}`)));
      });
    },
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

/** What the developer's shell says about a server must not reach the servers of the tests. */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('PLATFORM_')));
