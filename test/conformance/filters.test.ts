/** Filters of searches: one language for the metadata of threads, runs, assistants and crons, and for values of items. */
import * as assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

const test = suite('conformance: filters of searches');

/** Metadata, or an item's value, by the name of what has it. */
const DOCUMENTS: Record<string, JsonObject> = {
  a: { name: 'a', level: 1, tags: ['x', 'y'], place: { city: 'Ulm', zip: 1 } },
  b: { name: 'b', level: '1', tags: [], gone: null, place: { city: 'Bonn', zip: 2 } },
  c: { name: 'c', level: true, note: 'n', place: { city: 'Kiel' } },
};

const FOUND: [filter: JsonObject, names: string][] = [
  [{ name: { $eq: 'a' } }, 'a'],
  [{ level: { $in: [1, true] } }, 'ac'],
  [{ level: { $in: [] } }, ''],
  [{ level: { $not: { $in: [1, true] } }, name: { $exists: true } }, 'b'],
  [{ gone: { $exists: true } }, 'b'],
  [{ gone: { $exists: false }, name: { $exists: true } }, 'ac'],
  [{ $not: { name: 'a' }, name: { $exists: true } }, 'bc'],
  [{ $or: [{ name: 'a' }, { $and: [{ name: 'c' }, { note: { $exists: true } }] }] }, 'ac'],
  [{ name: { $or: [{ $eq: 'a' }, { $gt: 'b' }] } }, 'ac'],
  [{ name: { $gte: 'a', $lt: 'c' } }, 'ab'],
  [{ tags: { $contains: ['y', 'x'] } }, 'a'],
  [{ tags: { $eq: [] } }, 'b'],
  [{ place: { city: { $in: ['Ulm', 'Kiel'] } } }, 'ac'],
  [{ place: { city: { $not: { $eq: 'Ulm' } }, zip: { $exists: true } } }, 'b'],
];

const nest = (levels: number): JsonObject => (levels === 0 ? { name: 'a' } : { $not: nest(levels - 1) });

const MALFORMED: [filter: JsonObject, problem: RegExp][] = [
  [{ name: { $near: 'a' } }, /\bname: expected one of \$eq, .*, found "\$near"/],
  [{ place: { city: { $in: 'Ulm' } } }, /\bplace\.city\.\$in: expected a list/],
  [{ name: { $exists: 1 } }, /\bname\.\$exists: expected true or false/],
  [{ name: { $not: 'a' } }, /\bname\.\$not: expected/],
  [{ name: { $eq: 'a', other: 1 } }, /\bname: expected one of .*, found "other"/],
  [{ level: { $gt: null } }, /\blevel\.\$gt: expected a number or a string/],
  [{ $or: [{ name: 'a' }, {}] }, /\$or\[1\]: an empty filter/],
  [{ $nor: [{ name: 'a' }] }, /\$nor: unknown operator/],
  [nest(50), /nested deeper than 8 levels/],
  [
    { name: { $in: Array.from({ length: 100_000 }, (_, i) => i) } },
    /name\.\$in: expected at most 10000 values/,
  ],
];

interface Search {
  readonly member: 'metadata' | 'filter';
  readonly request: (filter: JsonObject) => Promise<{ status: number; json: any }>;
  readonly namesOf: (json: any) => string[];
  readonly count?: string;
}

/** Makes one thread, run, assistant, cron and item for each document. */
async function searches(s: TestServer): Promise<Record<string, Search>> {
  const threadId = await newThread(s);
  const post = async (path: string, body: JsonObject): Promise<void> => {
    const { status, text } = await s.request('POST', path, body);
    assert.equal(status, 200, text);
  };
  for (const [key, metadata] of Object.entries(DOCUMENTS)) {
    await newThread(s, { metadata });
    await post(`/threads/${threadId}/runs/wait`, { assistant_id: 'echo', metadata });
    await post('/assistants', { graph_id: 'echo', metadata });
    await post('/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *', metadata });
    await s.request('PUT', '/store/items', { namespace: ['docs'], key, value: metadata });
  }
  const named = (found: { metadata: { name?: string } }[]) =>
    found.map(({ metadata: { name = '?' } }) => name);
  const inBody = (path: string): Search => ({
    member: 'metadata',
    request: (metadata) => s.request('POST', `${path}/search`, { metadata, limit: 100 }),
    namesOf: named,
    count: `${path}/count`,
  });
  return {
    threads: inBody('/threads'),
    assistants: inBody('/assistants'),
    crons: inBody('/runs/crons'),
    runs: {
      member: 'metadata',
      request: (filter) =>
        s.request('GET', `/threads/${threadId}/runs?metadata=${encodeURIComponent(JSON.stringify(filter))}`),
      namesOf: named,
    },
    items: {
      member: 'filter',
      request: (filter) => s.request('POST', '/store/items/search', { namespace_prefix: ['docs'], filter }),
      namesOf: ({ items }: { items: { key: string }[] }) => items.map(({ key }) => key),
    },
  };
}

test('each operator finds the same in searches and counts of every resource', () =>
  withServer({}, async (s) => {
    for (const [resource, { request, namesOf, count }] of Object.entries(await searches(s)))
      for (const [filter, names] of FOUND) {
        const label = `${resource} ${JSON.stringify(filter)}`;
        const { status, json } = await request(filter);
        assert.equal(status, 200, label);
        assert.equal(namesOf(json).sort().join(''), names, label);
        if (count === undefined) continue;
        assert.equal((await s.request('POST', count, { metadata: filter })).json, names.length, label);
      }
  }));

test('a malformed filter of a search or count gets a 422 that names the place', () =>
  withServer({}, async (s) => {
    for (const [resource, { member, request, count }] of Object.entries(await searches(s)))
      for (const [filter, problem] of MALFORMED) {
        const label = `${resource} ${JSON.stringify(filter).slice(0, 100)}`;
        // A URL is too short for the long list.
        if (resource === 'runs' && JSON.stringify(filter).length > 10_000) continue;
        const answers = [await request(filter)];
        if (count !== undefined) answers.push(await s.request('POST', count, { [member]: filter }));
        for (const { status, json } of answers) {
          assert.equal(status, 422, label);
          assert.match(json.detail, problem, label);
          assert.match(json.detail, new RegExp(`^${member}\\.`), label);
        }
      }
  }));

test('a search for a thread by its values takes the same filters', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await newThread(s);
    await s.request('POST', `/threads/${threadId}/runs/wait`, { assistant_id: 'echo', input: say('hi') });
    const find = async (values: JsonObject): Promise<number> =>
      (await s.request('POST', '/threads/count', { values })).json;
    assert.deepEqual(
      [await find({ messages: { $exists: true } }), await find({ messages: { $exists: false } })],
      [1, 0],
    );
    assert.equal(
      (await s.request('POST', '/threads/count', { values: { messages: { $in: 1 } } })).status,
      422,
    );
  }));

test.run();
