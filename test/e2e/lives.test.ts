/** Runs with several lives: a worker that is killed, forks, and several runs on one thread execute again as they were (R3). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { withAnswersServer } from './answers-server.ts';
import { withPrograms } from './programs.ts';

const test = suite('lives of recorded runs');

const CONFIG = fileURLToPath(new URL('../fixtures/kinds', import.meta.url));
const MODES = ['values', 'updates', 'custom'];

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

test('a run whose worker was killed, a fork and its thread execute again with no difference (R3, X5)', () =>
  withAnswersServer(1, (url) =>
    withPrograms(async (programs) => {
      // given
      const env = { MODEL_URL: url };
      const server = await programs.serve({ args: ['--config', CONFIG], env });
      const newThread = async (): Promise<string> =>
        (await server.ask('POST', '/threads', {})).json.thread_id;
      const [forked, killed, called] = [await newThread(), await newThread(), await newThread()];
      const run = async (body: object): Promise<void> => {
        const path = `/threads/${forked}/runs`;
        const asked = { assistant_id: 'single', stream_mode: MODES, ...body };
        const { run_id: id } = (await server.ask('POST', path, asked)).json;
        await server.ask('GET', `${path}/${id}/join`);
      };
      await run({ input: { kind: 'draws between answers' } });
      const { json: states } = await server.ask('GET', `/threads/${forked}/history`);
      const { checkpoint } = states.find(({ next }: { next: string[] }) => next[0] === 'after');
      await run({ input: { kind: 'race whose loser is awaited later' } });
      await run({ checkpoint, input: null });
      for (const [graph, thread, begun] of [
        ['fan', killed, '"kind":"pause"'],
        ['plain', called, 'event: updates'],
      ] as const) {
        const asked = { assistant_id: graph, input: { kind: 'pause' }, stream_mode: MODES };
        const stream = await server.open('POST', `/threads/${thread}/runs/stream`, asked);
        let text = '';
        for await (const chunk of stream.body!) {
          text += Buffer.from(chunk as Uint8Array).toString();
          if (!text.includes(begun) || text.includes('"killed"')) continue;
          text += '"killed"';
          for (const pid of childrenOf(server.pid)) process.kill(pid, 'SIGKILL');
        }
      }
      await server.end('SIGTERM');
      // when
      const data = join(programs.dir, 'data');
      const args = ['replay', '--execute', '--all', '--json', '--config', CONFIG, '--data', data];
      const { output } = await programs.run({ args, env });
      // then
      const reports = output
        .split('\n')
        .flatMap((line) => (line.startsWith('{"threadId"') ? [JSON.parse(line)] : []));
      assert.deepEqual(
        reports.map(({ verdict }) => verdict),
        Array(5).fill('equal'),
        output,
      );
      // Frames of a run with several attempts are not compared. Of a plain function the last attempt is executed.
      const whole = reports.filter(({ comparison }) => comparison?.frames !== undefined);
      assert.deepEqual(whole.map(({ threadId }) => threadId).sort(), [forked, forked, forked, called].sort());
    }),
  ));

test.run();
