/** A project whose runs are killed, a model that counts what it is asked, and a look into the log at that moment. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { storeAt } from '../../src/open-store.ts';
import { isCall, unpackKept, type KeptCall } from '../../src/recording/kept-calls.ts';
import { ensureLine, OLDER_LINES, type Line } from '../projects/lines.ts';
import { childrenOf } from '../support/process-figures.ts';
import { until } from '../support/until.ts';
import { collect } from './frames.ts';
import { withCallsServer, type CallsServer } from './calls-server.ts';
import { withPrograms, type Programs, type ServerProgram } from './programs.ts';

const CONFIG = fileURLToPath(new URL('../fixtures/calls', import.meta.url));

/** Only lines of the library have deep agents. */
const DEEP = fileURLToPath(new URL('../projects/deep-calls/deep.ts', import.meta.url));

/** The graphs on a line of the library; older ones have no agents. */
export async function onLine(line: Line): Promise<string> {
  const folder = join(await ensureLine(line), 'projects', 'calls');
  await mkdir(folder, { recursive: true });
  const { graphs } = JSON.parse(await readFile(join(CONFIG, 'platform.json'), 'utf8'));
  if ((OLDER_LINES as readonly string[]).includes(line)) delete graphs.tools;
  else graphs.deep = './deep.ts:deep';
  for (const name of ['graph.ts', 'agents.ts']) await copyFile(join(CONFIG, name), join(folder, name));
  await copyFile(DEEP, join(folder, 'deep.ts'));
  await writeFile(join(folder, 'platform.json'), JSON.stringify({ graphs }));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

export interface RunRef {
  readonly thread: string;
  readonly run: string;
}

export interface Scene {
  readonly programs: Programs;
  readonly model: CallsServer;
  readonly data: string;
  readonly launch: { readonly args: readonly string[]; readonly env: Record<string, string> };
  server(): ServerProgram;
  begin(graph: string, body?: object): Promise<RunRef>;
  /** Waits for the run's end and returns its thread's values. */
  end(run: RunRef): Promise<any>;
  /** Kills the graph workers. */
  killWorkers(): Promise<void>;
  /** Kills the server, calls `between`, and starts it again. */
  killServer(between?: () => Promise<void>): Promise<void>;
  /** What the log keeps of an open run. */
  kept(run: RunRef): Promise<KeptCall[]>;
  /** Event and data of the frames of each attempt, in order. */
  frames(run: RunRef): Promise<[string, unknown][][]>;
  /** Values and steps of the thread's checkpoints, newest first. */
  history(run: RunRef): Promise<unknown>;
}

export const withScene = (
  use: (scene: Scene) => Promise<void>,
  env: Record<string, string> = {},
  config = CONFIG,
): Promise<void> =>
  withCallsServer((model) =>
    withPrograms(async (programs) => {
      const launch = {
        args: ['--config', config],
        env: { MODEL_URL: model.url, PLATFORM_WORKERS: '1', ...env },
      };
      const data = join(programs.dir, 'data');
      let server = await programs.serve(launch);
      await use({
        ...{ programs, model, data, launch },
        server: () => server,
        async begin(graph, body = {}) {
          const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
          const asked = { assistant_id: graph, input: {}, ...body };
          const { json, status } = await server.ask('POST', `/threads/${thread}/runs`, asked);
          assert.equal(status, 200, JSON.stringify(json));
          return { thread, run: json.run_id as string };
        },
        async end({ thread, run }) {
          await server.ask('GET', `/threads/${thread}/runs/${run}/join`);
          return (await answered(server, `/threads/${thread}/state`)).values;
        },
        async killWorkers() {
          const pids = childrenOf(server.pid);
          for (const pid of pids) process.kill(pid, 'SIGKILL');
          await until('the worker is gone', async () =>
            pids.every((pid) => !childrenOf(server.pid).includes(pid)),
          );
        },
        async killServer(between = async () => undefined) {
          await server.end('SIGKILL');
          await between();
          server = await programs.serve(launch);
        },
        async kept({ run }) {
          const past = await storeAt(data).openPast();
          try {
            return (await past.payloads.resume(run)).map(unpackKept).filter(isCall);
          } finally {
            await past.close();
          }
        },
        async frames({ thread, run }) {
          const { frames } = await collect(await server.open('GET', `/threads/${thread}/runs/${run}/stream`));
          const attempts: [string, unknown][][] = [];
          for (const { event, data } of frames)
            if (event === 'metadata') attempts.push([]);
            else attempts.at(-1)!.push([event, data === '' ? null : JSON.parse(data)]);
          return attempts;
        },
        async history({ thread }) {
          const states = await answered(server, `/threads/${thread}/history?limit=100`);
          return states.map(({ values, next, metadata }: any) => [values, next, metadata.step]);
        },
      });
    }),
  );

/** Reads again while the next worker starts, which a 503 tells. */
async function answered(server: ServerProgram, path: string): Promise<any> {
  let answer = await server.ask('GET', path);
  await until(`${path} is answered`, async () => {
    if (answer.status === 503) answer = await server.ask('GET', path);
    return answer.status !== 503;
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.json));
  return answer.json;
}

/** A call of the name arrives at the model, which does not answer it. */
export async function holding<T>(model: CallsServer, name: string, begin: () => Promise<T>): Promise<T> {
  const arrived = model.hold(name);
  const begun = await begin();
  await arrived;
  return begun;
}
