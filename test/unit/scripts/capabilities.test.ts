import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import * as assert from 'uvu/assert';
import { placeTable, readCapabilities, renderTable, subjectsOf } from '../../../scripts/capabilities.ts';
import { suite } from '../../support/suite.ts';

const test = suite('scripts/capabilities');

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('given titles with and without a method in front, when subjects are read, then only methods count', () => {
  assert.equal(subjectsOf('client.runs.get, client.runs.list: given a run, then both show it'), [
    'client.runs.get',
    'client.runs.list',
  ]);
  assert.equal(subjectsOf('RemoteGraph.getState and useStream.stop: given a thread'), [
    'RemoteGraph.getState',
    'useStream.stop',
  ]);
  assert.equal(subjectsOf('given client.runs.get: nothing'), []);
  assert.equal(subjectsOf('client.runs.get without a colon'), []);
});

test('the table of what clients can do says what the titles of the tests say', () => {
  const readme = readFileSync(`${ROOT}test/conformance/README.md`, 'utf8');
  assert.is(readme, placeTable(readme, renderTable(readCapabilities(ROOT))));
});

test('given the official client, when its methods are listed, then a test drives each one', () => {
  const client = new Client({ apiUrl: 'http://127.0.0.1:1' });
  const proofs = readCapabilities(ROOT);
  const missing = (['assistants', 'threads', 'runs', 'crons', 'store'] as const).flatMap((group) => {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(client[group]));
    return methods
      .filter((name) => name !== 'constructor')
      .map((name) => `client.${group}.${name}`)
      .filter((subject) => !proofs.has(subject));
  });
  assert.equal(missing, []);
});

test.run();
