/** The JavaScript dev server, installed beside the same graph into a folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../support/with-process.ts';

const PEER = '@langchain/langgraph-cli';
const PEER_VERSION = '1.5.1';
const INSTALL_LIMIT_MS = 180_000;
const START_LIMIT_MS = 60_000;

export interface Peer {
  readonly base: string;
  /** From its start to its first answer. */
  readonly startMs: number;
  close(): Promise<void>;
}

/** Rejects with the reason when it cannot be had. */
export async function startPeer(dir: string): Promise<Peer> {
  const { devDependencies: own } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  // The same engine as here, also where the peer would take a later one.
  const engine = Object.fromEntries(
    ['core', 'langgraph', 'langgraph-checkpoint', 'langgraph-sdk'].map((name) => [
      `@langchain/${name}`,
      own[`@langchain/${name}`]!,
    ]),
  );
  const manifest = { private: true, type: 'module', overrides: engine };
  const dependencies = { ...engine, [PEER]: PEER_VERSION };
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...manifest, dependencies }));
  copyFileSync(fileURLToPath(new URL('./project/echo.ts', import.meta.url)), join(dir, 'echo.ts'));
  const graphs = { agent: './echo.ts:graph' };
  writeFileSync(
    join(dir, 'langgraph.json'),
    JSON.stringify({ node_version: '20', dependencies: ['.'], graphs }),
  );
  await finish(
    spawn('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps'], { cwd: dir, stdio: 'ignore' }),
    INSTALL_LIMIT_MS,
  );

  const port = await freePort();
  const began = performance.now();
  const cli = join(dir, 'node_modules', PEER, 'dist/cli/cli.mjs');
  const args = [cli, 'dev', '--no-browser', '--no-reload', '--host', '127.0.0.1', '--port', String(port)];
  const server = spawn(process.execPath, args, { cwd: dir, stdio: 'ignore', detached: true });
  const exited = once(server, 'exit');
  const close = async (): Promise<void> => {
    // It has processes of its own: the whole group.
    process.kill(-server.pid!, 'SIGTERM');
    await exited;
  };
  const base = `http://127.0.0.1:${port}`;
  while (!(await answers(base))) {
    if (server.exitCode !== null) throw new Error(`it ended with ${server.exitCode}`);
    if (performance.now() - began > START_LIMIT_MS) {
      await close();
      throw new Error('it did not answer in time');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { base, startMs: performance.now() - began, close };
}

export async function answers(base: string): Promise<boolean> {
  try {
    return (await fetch(`${base}/ok`)).ok;
  } catch (error) {
    // Nobody listens yet.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

async function finish(child: ChildProcess, limitMs: number): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  if (code === null) throw new Error(`it could not be installed within ${limitMs / 1000} s`);
  if (code !== 0) throw new Error(`it could not be installed: npm ended with ${code}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
