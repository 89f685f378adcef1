import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { remedyOf } from '../../../src/graphs/remedy.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('remedy');

const notSet = (name: string): string =>
  `${name} is not set: add it to the env file (\`env\` in platform.json, usually .env)`;

test('a message that lacks a variable of the environment has it as its remedy', () => {
  for (const [message, name] of [
    [
      'The OPENAI_API_KEY environment variable is missing or empty; either provide it, or pass apiKey',
      'OPENAI_API_KEY',
    ],
    [
      'Missing credentials. Please pass an `apiKey`, or set the `ACME_ADMIN_KEY` environment variable.',
      'ACME_ADMIN_KEY',
    ],
    ['Please set process.env.TAVILY_API_KEY', 'TAVILY_API_KEY'],
    ['No API key provided: ACME_TOKEN is required', 'ACME_TOKEN'],
    ['connection string DATABASE_URL not found', 'DATABASE_URL'],
  ])
    assert.equal(remedyOf(message!, undefined), notSet(name!), message);
});

test('names that are set, codes and parts of addresses are no remedy', () => {
  process.env['ACME_SET_KEY'] = 'x';
  for (const message of [
    'ACME_SET_KEY environment variable is wrong',
    'ERR_MODULE_NOT_FOUND: missing environment',
    'API key not valid. [reason: API_KEY_INVALID]',
    'see the environment page, https://docs.example/INVALID_CONCURRENT_GRAPH_UPDATE/',
    'expected NODE_A, found NODE_B',
  ])
    assert.equal(remedyOf(message, undefined), undefined, message);
  delete process.env['ACME_SET_KEY'];
});

test('a line that reads a variable which is not set has it as its remedy', () =>
  withTempDir(async (dir) => {
    const file = join(dir, 'agent.ts');
    writeFileSync(file, "const one = 1;\nconst url = process.env['ACME_HOST']!.trim() + process.env.PATH;\n");
    const stack = `TypeError: Cannot read properties of undefined\n    at agent (${file}:2:38)`;
    assert.equal(remedyOf('Cannot read properties of undefined', stack), notSet('ACME_HOST'));
    assert.equal(remedyOf('x', stack.replace(':2:', ':1:')), undefined);
    assert.equal(remedyOf('x', stack.replace('agent.ts', 'gone.ts')), undefined);
  }));

test('a package that is missing has its installation as its remedy', () => {
  assert.equal(
    remedyOf("Cannot find package '@acme/models' imported from /a/b.ts", undefined),
    'npm install @acme/models',
  );
  assert.equal(remedyOf("Cannot find module './b.ts' imported from /a/b.ts", undefined), undefined);
});

test.run();
