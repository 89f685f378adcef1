import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../src/config/load.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('config: planted mistakes');

const GOOD = { graphs: { agent: './agent.mjs:graph' } };

/** Configurations with one mistake each, and what names it. */
const PLANTED: readonly (readonly [file: string | object, says: RegExp])[] = [
  ['{ "graphs": { "agent": "./agent.mjs:graph", } }', /^platform\.json:1:45: expected JSON[^]*\^/],
  ['{\n  // mine\n  "graphs": {} }', /^platform\.json:2:3: expected JSON[^]*> 2 \|/],
  ['', /^platform\.json:1:1: expected JSON: Unexpected end/],
  ['[]', /^platform\.json: file: expected an object/],
  [{ graphs: ['./agent.mjs:graph'] }, /: graphs: expected an object of graph names/],
  [{ graphs: { agent: { file: './agent.mjs:graph' } } }, /: graphs\.agent: expected "<file>:<variable>"/],
  [{ ...GOOD, auth: './auth.mjs:auth' }, /: auth: expected an object with "path"/],
  [{ ...GOOD, auth: { path: 7 } }, /: auth\.path: expected/],
  [
    { ...GOOD, auht: { path: './auth.mjs:auth' } },
    /: auht is unknown and has no effect; did you mean "auth"\?/,
  ],
  [{ ...GOOD, env: './prod.env' }, /: env: prod\.env does not exist/],
  [{ ...GOOD, env: ['ACME_KEY'] }, /: env: the environment has no variable ACME_KEY/],
  [{ ...GOOD, http: { cors: { allow_origins: '*' } } }, /: http\.cors\.allow_origins: expected a list/],
  [{ ...GOOD, http: { cors: { allow_origin: ['*'] } } }, /: http\.cors\.allow_origin is unknown/],
  [{ ...GOOD, http: { mount_prefix: 'api' } }, /: http\.mount_prefix: expected a path such as/],
  [{ ...GOOD, http: { cors: 'all' } }, /: http\.cors: expected/],
  [
    { ...GOOD, checkpointer: { ttl: { strategy: 'remove' } } },
    /: checkpointer\.ttl\.strategy: expected "delete"/,
  ],
  [{ ...GOOD, store: { index: { dims: '3', embed: './e.mjs:embed' } } }, /: store\.index\.dims: expected/],
  [{ ...GOOD, crons: { catch_up: 'some' } }, /: crons\.catch_up: expected "one", "none" or "all"/],
  [{ ...GOOD, crons: { catch_up_limit: 0 } }, /: crons\.catch_up_limit: expected/],
  [{ ...GOOD, recording: 'yes' }, /: recording: expected true, false or an object/],
];

test('each mistake is named with its field or its place, and nothing else is', () =>
  withTempDir((dir) => {
    for (const [file, says] of PLANTED) {
      writeFileSync(join(dir, 'platform.json'), typeof file === 'string' ? file : JSON.stringify(file));
      const { config, problems } = readConfig({ config: dir }, {}, dir);
      const found = [...problems, ...config.warnings].map((text) => text.replaceAll(`${dir}/`, ''));
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0]!, says);
    }
  }));

test.run();
