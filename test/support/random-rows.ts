/** Rows of every derived table, and of those that questions read beside them, with many ties and NULLs. */
import type { JsonObject } from '../../src/kernel/json.ts';
import { toPath, toReversedPath } from '../../src/item/namespace.ts';
import type { Cell } from '../../src/store/port/rows.ts';
import { THREAD_STATUSES } from '../../src/store/port/views/threads.ts';
import { LOG_TABLES } from '../../src/store/sql/log-tables.ts';
import { metadataColumns } from '../../src/store/sql/rows/metadata-pairs.ts';
import { CARRIED, carriedColumn, SCHEMA } from '../../src/store/sql/rows/tables.ts';
import type { Table } from '../../src/store/sql/table.ts';
import type { Random } from './random.ts';

/** Tables of payloads and of the log, as far as questions read them. */
const BESIDE: Readonly<Record<string, Table>> = {
  events: {
    key: 'position',
    columns: {
      position: 'integer',
      stream: 'text',
      version: 'integer',
      type: 'text',
      schema: 'integer',
      data: 'text',
      crc: 'integer',
      at: 'integer',
      command_id: 'text',
    },
  },
  commands: {
    key: 'command_id',
    columns: { command_id: 'text', first: 'integer', last: 'integer', at: 'integer' },
  },
  imports: {
    key: 'storage_key',
    columns: { storage_key: 'text', thread_id: 'text', at: 'integer' },
  },
  queue: LOG_TABLES['queue']!,
  frames: {
    key: '',
    columns: {
      ...{ run: 'text', first: 'integer', last: 'integer', at: 'integer' },
      ...{ parts: 'text', data: 'text', crc: 'integer' },
    },
  },
  item_values: {
    key: 'item_id',
    columns: { item_id: 'text', data: 'text', crc: 'integer' },
  },
  item_vectors: {
    key: '',
    columns: { item_id: 'text', idx: 'integer', data: 'text', crc: 'integer' },
  },
};

export const ALL_TABLES: Readonly<Record<string, Table>> = { ...SCHEMA, ...BESIDE };

/** Words that engines might take for each other, or that a pattern would find in too much. */
export const WORDS = ['ann', 'Bob', 'b', '1', 'a\u0000b', '\ud800', '%', "'", 'é', 'Ä', ''];
const VALUES = [
  ...WORDS,
  1,
  0,
  1.5,
  1e21,
  true,
  false,
  null,
  [],
  ['ann'],
  ['ann', 1, '1'],
  [['ann']],
  { x: 1 },
];

export const randomMetadata = (random: Random): JsonObject =>
  Object.fromEntries(
    Array.from({ length: random.int(0, 4) }, () => [
      random.pick(['owner', 'tags', 'x']),
      random.pick(VALUES),
    ]),
  );

export type Rows = Readonly<Record<string, Readonly<Record<string, Cell>>[]>>;

const carriedColumns = (cells: Readonly<Record<string, Cell>>): Record<string, Cell> =>
  Object.fromEntries(CARRIED.map((name) => [carriedColumn(name), cells[name] ?? null]));

/** Times from few moments, so that many are equal. */
const timeOf = (random: Random): number => random.int(1, 12) * 10;

export function randomRows(random: Random): Rows {
  const maybe = <T>(value: T): T | null => (random.chance(0.5) ? value : null);
  const time = (): number => timeOf(random);
  const ids = (prefix: string, n: number): string[] =>
    random.shuffle(Array.from({ length: n }, (_, i) => `${prefix}${i}`));
  const threadIds = ids('t', 60);
  const assistantIds = ids('a', 12);
  const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  const content = () => ({
    graph_id: random.pick(['agent', 'Other']),
    name: random.pick([...WORDS.slice(0, 4), 'Ä', 'a\u0001b']),
    description: maybe('about'),
    config: '{}',
    context: '{}',
    metadata: JSON.stringify(randomMetadata(random)),
  });

  const threads = threadIds.map((thread_id) => ({
    ...{ thread_id, created_at: time(), updated_at: time(), state_updated_at: maybe(time()) },
    status: random.pick(THREAD_STATUSES),
    settled: random.pick(THREAD_STATUSES),
    ...metadataColumns(
      random.chance(0.1) ? Object.fromEntries(many(110, (i) => [`k${i}`, i])) : randomMetadata(random),
    ),
    ...{ title: maybe('title'), titled_by: null, head: maybe('c'), interrupts: '{}' },
    error: maybe('{"error":"E"}'),
    temporary: random.pick([0, 0, 0, 1, 2]),
    ...(random.chance(0.4)
      ? { bound_graph_id: 'agent', bound_assistant_id: random.pick(assistantIds), bound_at: time() }
      : { bound_graph_id: null, bound_assistant_id: null, bound_at: null }),
    ...(random.chance(0.4)
      ? { ttl_strategy: 'delete', ttl_minutes: 1.5, expires_at: maybe(time()) }
      : { ttl_strategy: null, ttl_minutes: null, expires_at: null }),
    imported_at: maybe(time()),
  }));
  const busy = new Set<string>();
  const carried = new Set<string>();
  const runs = ids('r', 190).map((run_id, index) => {
    // A thread of one run, which carries it.
    const isCarrier = random.chance(0.2);
    const thread_id = isCarrier ? `carried ${index}` : random.pick(threadIds);
    if (isCarrier) carried.add(thread_id);
    const wanted = random.pick(['pending', 'running', 'success', 'error'] as const);
    const status = wanted === 'running' && busy.has(thread_id) ? 'pending' : wanted;
    if (status === 'running') busy.add(thread_id);
    const isOpen = status === 'pending' || status === 'running';
    const begun = status !== 'pending' || random.chance(0.3);
    return {
      ...{
        run_id,
        thread_id,
        created: index + 1,
        assistant_id: random.pick(assistantIds),
        graph_id: 'agent',
      },
      ...{ owner: null, created_at: time(), updated_at: time(), started_at: begun ? time() : null },
      ended_at: isOpen ? null : time(),
      status,
      metadata: JSON.stringify(randomMetadata(random)),
      ...{ config: null, strategy: 'enqueue', attempt: begun ? 1 : 0, lease_id: null, not_before: time() },
      outcome: isOpen ? null : '{"kind":"success","next":[],"interrupts":{}}',
      refused: random.chance(0.3) ? 1 : 0,
      webhook: random.chance(0.3) ? 1 : 0,
      ...{ cancel_reason: null, head: maybe('c'), usage: null, turn: begun || !isOpen ? index + 1 : null },
      ...carriedColumns(
        isCarrier
          ? {
              ...{
                created_at: time(),
                updated_at: time(),
                state_updated_at: maybe(time()),
                head: maybe('c'),
              },
              ...{ status: isOpen ? 'busy' : random.pick(THREAD_STATUSES.filter((each) => each !== 'busy')) },
              ...{
                settled: 'idle',
                ...metadataColumns(randomMetadata(random)),
                interrupts: '{}',
                error: null,
              },
            }
          : {},
      ),
    };
  });
  // Longer than what an index of PostgreSQL takes, and too mixed to be compressed.
  const long = String.fromCharCode(...many(511, () => random.int(0x4e00, 0x9fff)));
  const items = ids('i', 400).map((item_id) => {
    const namespace = many(random.int(1, 3), () =>
      random.pick(['u', 'v', 'Ä', '%', 'u0', `${long}a`, `${long}b`]),
    );
    return {
      ...{ item_id, namespace: JSON.stringify(namespace), key: random.pick(['k', 'l', 'é']) },
      ...{
        path: toPath(namespace),
        reversed: toReversedPath(namespace),
        created_at: time(),
        updated_at: time(),
      },
      ...{ ttl: null, expires_at: maybe(time()) },
    };
  });
  return {
    threads,
    runs,
    deliveries: ids('d', 80).map((delivery_id) => ({
      ...{ delivery_id, ...(({ run_id, thread_id }) => ({ run_id, thread_id }))(random.pick(runs)) },
      ...(random.chance(0.1) && { run_id: 'gone', thread_id: 'gone' }),
      ...{ url: 'https://a/', host: random.pick(['a', 'b', 'B', 'c']) },
      status: random.pick(['owed', 'delivered', 'failed']),
      ...{ attempts: 2, first: 1, version: 3, next_at: maybe(time()), last_status: null, last_error: null },
      ...{ orphan: random.int(0, 1), body: random.int(0, 1), created_at: time(), updated_at: time() },
    })),
    assistants: assistantIds.map((assistant_id) => ({
      ...{ assistant_id, ...content(), version: 2, system: random.int(0, 1) },
      ...{ created_at: time(), updated_at: time() },
    })),
    assistant_versions: assistantIds.flatMap((assistant_id) =>
      [1, 2].map((version) => ({
        ...{
          version_id: `${assistant_id} ${version}`,
          assistant_id,
          version,
          ...content(),
          created_at: time(),
        },
      })),
    ),
    items,
    crons: ids('c', 40).map((cron_id) => ({
      ...{
        cron_id,
        assistant_id: random.pick(assistantIds),
        thread_id: maybe(random.pick([...threadIds, 'gone'])),
      },
      ...{ schedule: '* * * * *', timezone: null, end_time: maybe(time()), enabled: random.int(0, 1) },
      ...{ on_run_completed: null, user_id: null, payload: '{}' },
      metadata: JSON.stringify(randomMetadata(random)),
      ...{ next_at: maybe(time()), refused: null, version: 1, created_at: time(), updated_at: time() },
    })),
    queue: [...threadIds, ...carried]
      .filter((thread_id) => runs.some((run) => run.thread_id === thread_id && run.ended_at === null))
      .map((thread_id) => ({ thread_id, due_at: busy.has(thread_id) ? null : time() })),
    events: runs.map(({ run_id, thread_id, created }) => ({
      ...{
        position: created,
        stream: `thread-${thread_id}`,
        version: created,
        type: 'RunCreated',
        schema: 1,
      },
      data: JSON.stringify({
        ...{ threadId: thread_id, runId: run_id },
        kwargs: { input: null, config: {}, streamMode: [], streamSubgraphs: false },
      }),
      ...{ crc: 0, at: 1, command_id: 'c' },
    })),
    commands: [{ command_id: 'c', first: 1, last: 2, at: 50 }],
    imports: [{ storage_key: 'k', thread_id: 't', at: 50 }],
    frames: runs
      .filter(() => random.chance(0.5))
      .map(({ run_id }) => ({ run: run_id, first: 0, last: 0, at: 1, parts: '0 e', data: '', crc: 0 })),
    item_values: items.map(({ item_id }) => ({
      ...{ item_id, data: JSON.stringify(randomMetadata(random)), crc: 0 },
    })),
    item_vectors: items.flatMap(({ item_id }) =>
      many(random.int(0, 2), (idx) => ({ item_id, idx, data: `vector ${idx}`, crc: 0 })),
    ),
  };
}
