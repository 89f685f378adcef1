import * as assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonFile } from '../../../src/config/json-file.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('config: JSON files');

/** The text has a mark before the character that is wrong. */
const WRONG: Record<string, readonly [text: string, reason: RegExp]> = {
  'a word': ['{\n  "graphs": ¦hello\n}', /Unexpected token 'h'$/],
  'a comma at the end of a list': ['{ "env": ["A",\n"B",¦] }', /Unexpected token '\]'$/],
  'a comma at the end of an object': ['{\n  "graphs": {},\n¦}', /Expected double-quoted property name$/],
  'a missing comma': ['{\n  "graphs": {}\n  ¦"auth": {}\n}', /Expected ',' or '}' after property value$/],
  'a comment': ['{\n  ¦// graphs\n  "graphs": {} }', /Expected property name or '}'$/],
  'an end too early': ['{\n  "graphs": {\n    "a": ¦', /Unexpected end of JSON input$/],
  'something behind the end': ['{}\n\n¦{}', /Unexpected non-whitespace character$/],
  'a far place': [`{\n${'  "name": "a text",\n'.repeat(300)}  "last": ¦yes\n}`, /Unexpected token 'y'$/],
  'a quote in single quotes': ["{ ¦'graphs': {} }", /Expected property name or '}'$/],
};

for (const [name, [marked, reason]] of Object.entries(WRONG))
  test(`a syntax error is told with line, column and the lines around it: ${name}`, () =>
    withTempDir(async (dir) => {
      const file = join(dir, 'platform.json');
      await writeFile(file, marked.replace('¦', ''));
      const problems: string[] = [];
      assert.equal(readJsonFile(file, problems), undefined);
      const before = marked.slice(0, marked.indexOf('¦')).split('\n');
      const [first, ...frame] = problems.join('\n').split('\n');
      const place = `${file}:${before.length}:${before.at(-1)!.length + 1}: expected JSON: `;
      assert.ok(first!.startsWith(place), first);
      assert.match(first!, reason);
      const at = frame.findIndex((line) => line.startsWith('>'));
      const column = frame[at]!.indexOf('|') + 2 + before.at(-1)!.length;
      assert.equal(frame[at + 1]!.indexOf('^'), column, frame.join('\n'));
      assert.ok(frame.length <= 6);
    }));

test('a file that cannot be read is one problem, and one with a byte order mark is none', () =>
  withTempDir(async (dir) => {
    const problems: string[] = [];
    assert.equal(readJsonFile(dir, problems), undefined);
    assert.match(problems[0]!, /expected a file that can be read \(EISDIR/);
    const file = join(dir, 'platform.json');
    await writeFile(file, '\uFEFF{ "graphs": {} }');
    assert.deepEqual(readJsonFile(file, problems), { graphs: {} });
    assert.equal(problems.length, 1);
  }));

test.run();
