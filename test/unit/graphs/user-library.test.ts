import * as assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openUserLibraries } from '../../../src/graphs/user-library.ts';
import { suite } from '../../support/suite.ts';
import { PACKAGES, withProject } from './project-harness.ts';

const test = suite('user library');

test('given a library that could not be found, when it is there and wanted again, then it is found', () =>
  withProject({ 'graph.mjs': 'export const graph = () => ({});' }, async (dir) => {
    const find = openUserLibraries(join(dir, 'graph.mjs'));
    const graph = { invoke: () => undefined } as never;
    await assert.rejects(find(), /langgraph/);
    await assert.rejects(find(graph), /langgraph/);
    await symlink(PACKAGES, join(dir, 'node_modules'));
    assert.equal(typeof (await find()).command, 'function');
    assert.equal(typeof (await find(graph)).command, 'function');
  }));

test.run();
