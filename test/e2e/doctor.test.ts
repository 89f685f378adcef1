import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withPrograms, type Programs } from './programs.ts';
import { FUNCTION, project, withTakenPort } from './written-project.ts';

const test = suite('doctor');

interface Finding {
  readonly area: string;
  readonly status: string;
  readonly found: string;
  readonly remedy?: string;
}

async function findingsOf(run: Programs['run'], ...args: string[]): Promise<{ code: number; of: Finding[] }> {
  const { code, output } = await run({ args: ['doctor', '--json', ...args] });
  const { ok, findings } = JSON.parse(output.split('\n').find((line) => line.startsWith('{'))!);
  assert.equal(ok, code === 0);
  return { code: code!, of: findings };
}

const badOf = (findings: readonly Finding[]): string[] =>
  findings.flatMap(({ area, status }) => (status === 'ok' ? [] : [`${area} ${status}`]));

test('doctor names every finding of a project with its remedy, exits 1 and writes nothing', () =>
  withPrograms(({ run, dir }) =>
    withTakenPort(async (port) => {
      const folder = await project(join(dir, 'broken'), {
        'platform.json': {
          graphs: { agent: './agent.ts:graph', sound: './sound.ts:graph' },
          env: ['MISSING_KEY'],
          unknown: true,
        },
        'agent.ts': 'import "a-package-that-is-not-there";\nexport const graph = () => ({});\n',
        'sound.ts': FUNCTION,
      });
      const args = ['--config', folder, '--port', String(port), '--host', '127.0.0.1'];
      const { code, of } = await findingsOf(run, ...args);
      assert.equal(code, 1);
      const expected = ['configuration warning', 'environment warning', 'graphs problem', 'port problem'];
      assert.deepEqual(badOf(of).sort(), expected);
      for (const { status, remedy } of of) assert.equal(remedy !== undefined, status !== 'ok');
      const foundIn = (area: string) => of.filter((each) => each.area === area).map(({ found }) => found);
      assert.match(foundIn('graphs').join(), /agent\.ts.*a-package-that-is-not-there/s);
      assert.match(foundIn('environment').join(), /MISSING_KEY/);
      if (process.platform === 'linux')
        assert.match(foundIn('port').join(), new RegExp(`process ${process.pid} `));
      assert.equal(existsSync(join(folder, '.platform')), false);
    }),
  ));

test('doctor finds nothing wrong with a project beside its running server, and tells a damaged log', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const folder = await project(join(dir, 'sound'), {
      'platform.json': { graphs: { sound: './sound.ts:graph' } },
      'sound.ts': FUNCTION,
    });
    const data = join(dir, 'data');
    const server = await serve({ args: ['--config', folder, '--data', data] });
    const args = ['--config', folder, '--data', data, '--port', String(server.port)];
    const sound = await findingsOf(run, ...args);
    assert.deepEqual([sound.code, badOf(sound.of)], [0, []]);
    assert.match(
      JSON.stringify(sound.of),
      new RegExp(`the server of this folder \\(process ${server.pid}\\)`),
    );
    await server.end('SIGTERM');
    const { code, output } = await run({
      args: ['doctor', '--config', folder, '--port', '0', '--data', folder],
    });
    assert.equal(code, 0, output);
    await project(data, { 'log.db': 'certainly no database, and long enough to look like one to a reader' });
    const damaged = await findingsOf(run, '--config', folder, '--data', data, '--port', '0');
    assert.deepEqual([damaged.code, badOf(damaged.of)], [1, ['log problem']]);
  }));

test.run();
