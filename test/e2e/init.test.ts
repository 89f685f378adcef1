import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TEMPLATES } from '../../src/cli/init/templates.ts';
import { runHere } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withPrograms } from './programs.ts';

const test = suite('init');

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
/** Lines of the output below `Next:`. */
const stepsOf = (out: string): string[] =>
  out
    .split('Next:\n')[1]!
    .split('\n')
    .map((line) => line.trim());

const manifestOf = (folder: string): any => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

test('what init writes is served at once and answers the request that it prints', () =>
  withPrograms(async ({ serve, dir }) => {
    const answers = await Promise.all(
      ['agent', 'function', 'auth'].map(async (template) => {
        // Given a template in an empty folder, with the packages that it names.
        const folder = join(dir, template);
        const { out } = await runHere(['init', folder, '--template', template]);
        symlinkSync(PACKAGES, join(folder, 'node_modules'));
        // When it is served.
        const server = await serve({ args: ['--config', folder, '--data', join(folder, '.platform')] });
        // Then the printed request is answered.
        const printed = JSON.parse(/-d '(.*)'$/m.exec(out)?.[1] ?? '');
        const authorization = /-H 'authorization: ([^']*)'/.exec(out)?.[1];
        const headers = authorization === undefined ? {} : { authorization };
        const refused = await server.ask('POST', '/runs/wait', printed);
        const { json } = await server.ask('POST', '/runs/wait', printed, headers);
        assert.doesNotMatch(server.output(), /warn/i);
        return [refused.status, json.messages.at(-1).type, json.messages.at(-1).content];
      }),
    );
    assert.deepEqual(answers, [
      [200, 'ai', 'It is sunny in Oslo, 21 °C.'],
      [200, 'ai', 'You said: hello'],
      [401, 'ai', 'You said: hello'],
    ]);
  }));

test('the agent of init asks before it acts, and its own test passes', () =>
  withPrograms(async ({ serve, dir }) => {
    const folder = join(dir, 'agent');
    await runHere(['init', folder]);
    symlinkSync(PACKAGES, join(folder, 'node_modules'));
    const testing = promisify(execFile)('node_modules/.bin/tsx', ['--test', 'agent.test.ts'], {
      cwd: folder,
    });
    const server = await serve({ args: ['--config', folder, '--data', join(folder, '.platform')] });
    const { json: thread } = await server.ask('POST', '/threads', {});
    const wait = (body: object) =>
      server.ask('POST', `/threads/${thread.thread_id}/runs/wait`, { assistant_id: 'agent', ...body });
    const { json: asked } = await wait({
      input: { messages: [{ role: 'user', content: 'Book a hotel in Rome' }] },
    });
    assert.equal(asked.__interrupt__[0].value.question, 'Book a hotel in Rome?');
    const { json: booked } = await wait({ command: { resume: true } });
    assert.equal(booked.messages.at(-1).content, 'Booked 2 nights in Rome.');
    assert.match((await testing).stdout, /pass 1$/m);
  }));

test('the manifest of init pins the packages of the tests and names how the program was installed', () =>
  withTempDir(async (dir) => {
    // Given the program in the folder of its sources.
    const { out } = await runHere(['init', join(dir, 'My Agent')]);
    const { name, scripts, dependencies, devDependencies } = manifestOf(join(dir, 'My Agent'));
    // Then npm installs it from there, and the scripts find it in the project.
    assert.deepEqual([name, scripts.dev, scripts.start], ['my-agent', 'rewound dev', 'rewound serve']);
    const { rewound, ...packages } = dependencies;
    assert.equal(resolve(dir, 'My Agent', rewound.slice('file:'.length)), dirname(PACKAGES));
    for (const [packageName, version] of Object.entries({ ...packages, ...devDependencies }))
      assert.equal(
        JSON.parse(readFileSync(join(PACKAGES, packageName, 'package.json'), 'utf8')).version,
        version,
        packageName,
      );
    assert.deepEqual(stepsOf(out).slice(1, 3), ['npm install', 'npm run dev']);
  }));

test('the schema that the configuration of init names is there, also without the package', () =>
  withTempDir(async (dir) => {
    const schemaOf = (folder: string): any => {
      const { $schema } = JSON.parse(readFileSync(join(folder, 'platform.json'), 'utf8'));
      return JSON.parse(readFileSync(join(folder, $schema), 'utf8'));
    };
    // Given one project where npm installs the program, and one whose manifest does not name it.
    const [installed, other] = [join(dir, 'installed'), join(dir, 'other')];
    await runHere(['init', installed, '--template', 'function']);
    mkdirSync(join(installed, 'node_modules'));
    symlinkSync(dirname(PACKAGES), join(installed, 'node_modules/rewound'));
    mkdirSync(other);
    writeFileSync(join(other, 'package.json'), '{}');
    const { out } = await runHere(['init', other, '--template', 'function']);
    assert.deepEqual(stepsOf(out).slice(1, 2), ['npx rewound dev']);
    assert.deepEqual(schemaOf(installed), schemaOf(other));
    assert.equal(schemaOf(other).properties.graphs.description, 'The graphs to serve.');
    assert.deepEqual(readdirSync(installed).includes('platform.schema.json'), false);
  }));

test('given a manifest that is there, init says what to add to it, and its page names commands that are there', () =>
  withTempDir(async (dir) => {
    // given
    writeFileSync(join(dir, 'package.json'), '{}');
    const template = TEMPLATES['agent']!;
    // when
    const { out } = await runHere(['init', dir]);
    // then
    const [module, install, installDev, dev] = stepsOf(out).slice(1);
    assert.deepEqual([module, dev], ['npm pkg set type=module', 'npx rewound dev']);
    for (const [line, packages] of [
      [install, template.dependencies],
      [installDev, template.devDependencies],
    ] as const)
      for (const [name, version] of Object.entries(packages))
        assert.ok(line!.includes(` ${name}@${version}`));
    assert.equal(readFileSync(join(dir, 'package.json'), 'utf8'), '{}');
    const page = readFileSync(join(dir, 'README.md'), 'utf8');
    assert.match(page, /npx rewound dev[^]*npx tsx --test agent\.test\.ts/);
    assert.doesNotMatch(page, /npm (run dev|test)/);
  }));

test('init adds a workflow and a debugger configuration beside what a project has, and overwrites neither', () =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'package.json'), '{}');
    for (const [template, file] of [
      ['github', '.github/workflows/rewound.yml'],
      ['vscode', '.vscode/launch.json'],
    ] as const) {
      const { code, out } = await runHere(['init', dir, '--template', template]);
      assert.equal(code, 0);
      assert.ok(out.includes(file), out);
      const text = readFileSync(join(dir, file), 'utf8');
      assert.match(text, template === 'github' ? /rewound rerun --check tests/ : /"--break",\s+"--inspect"/);
      writeFileSync(join(dir, file), 'mine');
      await assert.rejects(runHere(['init', dir, '--template', template]), { exitCode: 2 });
      assert.equal(readFileSync(join(dir, file), 'utf8'), 'mine');
    }
    assert.deepEqual(readdirSync(dir).sort(), ['.github', '.vscode', 'package.json']);
  }));

test('init overwrites nothing, and adds an auth handler to a project that is there', () =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'hello.ts'), 'mine');
    await assert.rejects(
      runHere(['init', dir, '--template', 'function']),
      /has hello\.ts already; nothing was written/,
    );
    assert.deepEqual(readdirSync(dir), ['hello.ts']);
    writeFileSync(join(dir, 'langgraph.json'), '{}');
    const { code, out } = await runHere(['init', dir, '--template', 'auth']);
    assert.equal(code, 0);
    assert.match(out, /add to the configuration: "auth": \{ "path": "\.\/auth\.ts:auth" \}/);
    assert.deepEqual(readdirSync(dir).sort(), ['auth.ts', 'hello.ts', 'langgraph.json']);
    assert.equal(readFileSync(join(dir, 'hello.ts'), 'utf8'), 'mine');
  }));

test.run();
