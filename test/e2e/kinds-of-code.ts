/** Executes runs of many small graphs again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { withAnswersServer } from './answers-server.ts';
import { withPrograms } from './programs.ts';

const MODES = ['values', 'updates', 'messages-tuple', 'tasks', 'custom', 'debug'];

export interface Case {
  readonly title: string;
  readonly graph: string;
  readonly input: object;
}
export interface Report {
  readonly title: string;
  readonly verdict: string;
  readonly comparison?: { readonly divergence?: Readonly<Record<string, unknown>> };
  readonly request?: { readonly task: string };
  readonly reasons: readonly string[];
}

/** Runs every case on a thread of its own, three at a time, and executes all of them again; `env` is that of the re-execution. */
export const reexecuted = (
  cases: readonly Case[],
  env: Record<string, string>,
  { config, seed }: { readonly config: string; readonly seed: number },
): Promise<Report[]> =>
  withAnswersServer(seed, (url) =>
    withPrograms(async (programs) => {
      const given = { MODEL_URL: url };
      const data = join(programs.dir, 'data');
      const server = await programs.serve({ args: ['--config', config], env: given });
      const titles = new Map<string, string>();
      const due = [...cases];
      const lane = async (): Promise<void> => {
        for (let next = due.shift(); next !== undefined; next = due.shift()) {
          const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
          titles.set(thread, next.title);
          const asked = { assistant_id: next.graph, input: next.input, stream_mode: MODES };
          const path = `/threads/${thread}/runs`;
          const { run_id: run } = (await server.ask('POST', path, { ...asked, stream_subgraphs: true })).json;
          await server.ask('GET', `${path}/${run}/join`);
        }
      };
      await Promise.all([lane(), lane(), lane()]);
      await server.end('SIGTERM');
      const { output } = await programs.run({
        args: ['replay', '--execute', '--all', '--json', '--config', config, '--data', data],
        env: { ...given, ...env },
      });
      const lines = output.split('\n').filter((line) => line.startsWith('{"threadId"'));
      assert.equal(lines.length, cases.length, output.slice(-2_000));
      return lines.map((line) => {
        const { threadId, ...report } = JSON.parse(line);
        return { ...report, title: titles.get(threadId) };
      });
    }),
  );

export const shown = ({ title, verdict, comparison, request, reasons }: Report): string =>
  `${title}: ${verdict} ${JSON.stringify([comparison?.divergence, request, reasons]).slice(0, 500)}`;
