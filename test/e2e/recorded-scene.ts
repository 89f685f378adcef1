/** A server that records its runs, whose models answer through a real server, and commands on its log. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { storeAt } from '../../src/open-store.ts';
import type { RecordingPart } from '../../src/recording/parts.ts';
import { unpackPart } from '../../src/recording/unpack.ts';
import { withModelServer } from './model-server.ts';
import { withPrograms, type Programs, type ServerProgram } from './programs.ts';

export const MODES = ['values', 'updates', 'messages-tuple', 'tasks', 'custom', 'debug'];

export interface Scene {
  readonly programs: Programs;
  readonly data: string;
  readonly server: ServerProgram;
  /** Starts the server again, after it was killed. */
  again(): Promise<ServerProgram>;
  requests(): number;
  /** Starts a run on a new thread, or on `thread`, and waits for it. */
  run(graph: string, body: object, thread?: string): Promise<{ thread: string; run: string }>;
  readonly config: string;
  /** Variables of the server, which commands need as well. */
  readonly env: Readonly<Record<string, string>>;
  /** A command on the project's log. */
  command(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
  /** The `replay` command with the project's graphs; the model server answers nothing by then. */
  replay(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
  parts(run: string): Promise<RecordingPart[]>;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** `project`: a folder of fixtures. */
export const withRecorded = (
  project: string,
  use: (scene: Scene) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> =>
  withModelServer((model) =>
    withPrograms(async (programs) => {
      const config = fileURLToPath(new URL(`../fixtures/${project}`, import.meta.url));
      const data = join(programs.dir, 'data');
      const given = { MODEL_URL: model.url, ...env };
      const command = (args: readonly string[], more: Record<string, string> = {}): Promise<Ended> =>
        programs.run({ args: [...args, '--config', config, '--data', data], env: { ...given, ...more } });
      const again = () => programs.serve({ args: ['--config', config], env: given });
      const server = await again();
      await use({
        again,
        ...{ programs, data, server, requests: model.requests },
        async run(graph, body, known) {
          const thread = known ?? ((await server.ask('POST', '/threads', {})).json.thread_id as string);
          const asked = { assistant_id: graph, stream_mode: MODES, stream_subgraphs: true, ...body };
          const reply = await server.ask('POST', `/threads/${thread}/runs`, asked);
          const run = reply.json.run_id as string;
          await server.ask('GET', `/threads/${thread}/runs/${run}/join`);
          return { thread, run };
        },
        ...{ config, env: given, command },
        replay: (args, more) => command(['replay', '--execute', ...args], more),
        async parts(run) {
          const past = await storeAt(data).openPast();
          try {
            return (await past.payloads.recording(run)).map(unpackPart);
          } finally {
            await past.close();
          }
        },
      });
    }),
  );
