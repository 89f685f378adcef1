import * as assert from 'node:assert/strict';
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runHere } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withPrograms } from './programs.ts';

const test = suite('init');

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const hello = (graph: string) => ({
  assistant_id: graph,
  input: { messages: [{ role: 'user', content: 'hello' }] },
});

test('what init writes is served at once and answers the request that it prints', () =>
  withPrograms(async ({ serve, dir }) => {
    const answers = await Promise.all(
      ['function', 'auth', 'agent'].map(async (template) => {
        // Given a template in an empty folder, with the packages that it names.
        const folder = join(dir, template);
        const { out } = await runHere(['init', folder, '--template', template]);
        const packages = /^ {2}npm install (.*)$/m.exec(out)?.[1];
        assert.equal(packages, template === 'agent' ? '@langchain/langgraph @langchain/core' : undefined);
        if (packages !== undefined) symlinkSync(PACKAGES, join(folder, 'node_modules'));
        // When it is served.
        const server = await serve({ args: ['--config', folder, '--data', join(folder, '.platform')] });
        // Then the printed request is answered.
        const { assistant_id: graph } = JSON.parse(/-d '(.*)'$/m.exec(out)?.[1] ?? '');
        const authorization = /-H 'authorization: ([^']*)'/.exec(out)?.[1];
        const headers = authorization === undefined ? {} : { authorization };
        const refused = await server.ask('POST', '/runs/wait', hello(graph));
        const { json } = await server.ask('POST', '/runs/wait', hello(graph), headers);
        return [refused.status, json.messages[1].type, json.messages[1].content];
      }),
    );
    assert.deepEqual(answers, [
      [200, 'ai', 'You said: hello'],
      [401, 'ai', 'You said: hello'],
      [200, 'ai', 'Hello! Put a real model into agent.ts.'],
    ]);
  }));

test('init overwrites nothing, and adds an auth handler to a project that is there', () =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'hello.ts'), 'mine');
    await assert.rejects(runHere(['init', dir]), /has hello\.ts already; nothing was written/);
    assert.deepEqual(readdirSync(dir), ['hello.ts']);
    writeFileSync(join(dir, 'langgraph.json'), '{}');
    const { code, out } = await runHere(['init', dir, '--template', 'auth']);
    assert.equal(code, 0);
    assert.match(out, /add to the configuration: "auth": \{ "path": "\.\/auth\.ts:auth" \}/);
    assert.deepEqual(readdirSync(dir).sort(), ['auth.ts', 'hello.ts', 'langgraph.json']);
    assert.equal(readFileSync(join(dir, 'hello.ts'), 'utf8'), 'mine');
  }));

test.run();
