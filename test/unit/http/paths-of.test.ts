import * as assert from 'node:assert/strict';
import { pathOf } from '../../../src/http/paths.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/paths, of addresses');

test('A1 the path of any address is the one that the URL standard finds', () => {
  for (const url of [
    'http://h/',
    'http://h:2024/threads/0197-a_b.c~d/runs/wait',
    'https://h/runs?x=/../y#z',
    'http://h/runs#?',
    'http://h/a/../threads',
    'http://h/./a',
    'http://h/a/.',
    'http://h/a/%2e%2e/b',
    'http://h/%74hreads',
    'http://h/é x',
    'http://h//threads',
    'http://h',
    'http://h?q',
    'http://u:p@h/a',
    'http://h/a\\b/../c',
    'http://[::1]:80/a',
  ])
    assert.equal(pathOf(url), new URL(url).pathname, url);
});

test.run();
