/** Wrong values for every field, by request: none may be taken, each is named. */
import { MISSING } from './scene.ts';

export const OBJECTS = ['text', 1, true, [], [{}]];
export const NAMES = [1, {}, [], '', 'x'.repeat(513), 'a\u0000b', '\ud800'];
export const LIMITS = [0, 1001, -1, 1.5, 'x', '10', [], 1e300];
export const OFFSETS = [-1, 1.5, 'x', {}, 1e300];

/** Values that are wrong for the field, for each body. */
export const RUN: Record<string, readonly unknown[]> = {
  assistant_id: [undefined, null, ...NAMES],
  command: ['resume', 1, [], {}, { update: null, goto: null }],
  context: OBJECTS,
  metadata: OBJECTS,
  config: OBJECTS,
  'config.configurable': OBJECTS,
  'config.tags': ['t', [1], {}, Array(1001).fill('t')],
  'config.recursion_limit': [0, -1, 1.5, '5'],
  checkpoint: OBJECTS,
  'checkpoint.checkpoint_id': [...NAMES],
  'checkpoint.checkpoint_map': OBJECTS,
  'checkpoint.checkpoint_ns': [1, {}],
  checkpoint_id: [...NAMES],
  webhook: [
    1,
    {},
    '',
    'no url',
    '//path',
    'ftp://example.com/',
    'http://',
    `https://example.com/${'x'.repeat(3000)}`,
  ],
  interrupt_before: ['node', 1, [1], [''], {}, Array(1001).fill('node')],
  interrupt_after: ['node', true, [null], ['\u0000']],
  stream_mode: [Array(101).fill('values'), 'nothing', 1, {}, ['values', 'nothing'], [1], 'VALUES'],
  stream_subgraphs: ['true', 1, {}],
  on_disconnect: ['stop', 1, ''],
  on_completion: [1, {}, 'x', 'DELETE', ''],
  multitask_strategy: ['REJECT', 'reject ', 1, {}, ['reject']],
  if_not_exists: ['make', 1],
  after_seconds: [-1, '5', 31_536_001, 1e300, {}],
  durability: ['never', 1],
};
const TTLS = [
  0,
  -1,
  '5',
  1e300,
  [],
  {},
  { strategy: 'delete' },
  { ttl: '1' },
  { ttl: 1, strategy: 'archive' },
];
export const THREAD = {
  thread_id: ['x', 1, '', `${MISSING}0`],
  metadata: OBJECTS,
  if_exists: ['merge', 1],
  supersteps: [
    1,
    {},
    'x',
    [1],
    [null],
    [{}],
    [{ updates: [] }],
    [{ updates: {} }],
    [{ updates: [{}] }],
    [{ updates: [{ as_node: 1 }] }],
    [{ updates: [{ as_node: 'a', command: {} }] }],
    Array(10_001).fill({ updates: [{ as_node: 'a' }] }),
  ],
  ttl: TTLS,
};
const PLACES = [
  1,
  'x',
  [],
  { checkpoint_id: 1 },
  { checkpoint_id: '' },
  { checkpoint_id: '\u0000' },
  { checkpoint_ns: 1 },
  { checkpoint_ns: '\u0000' },
  { checkpoint_ns: 'x'.repeat(4097) },
  { checkpoint_map: [] },
];
export const STATE = {
  values: [1, 'x', true, [1], [[]], ['x']],
  as_node: ['', 1, {}, '\u0000'],
  checkpoint: PLACES,
  checkpoint_id: ['', 1, {}, '\ud800'],
};
export const STATE_AT = { checkpoint: PLACES, subgraphs: ['true', 1, {}] };
export const HISTORY = {
  limit: LIMITS,
  before: [1, '', true, [], { checkpoint_id: 1 }, { configurable: { checkpoint_id: [] } }],
  metadata: OBJECTS,
  checkpoint: PLACES,
};
export const PATCH = { metadata: OBJECTS, ttl: TTLS };
export const SEARCH: Record<string, readonly unknown[]> = {
  ids: ['x', ['x'], [1], {}, [MISSING, ''], Array(1001).fill(MISSING)],
  metadata: OBJECTS,
  status: ['done', 1, 'IDLE'],
  sort_by: ['values', 1, 'constructor', 'thread_id; DROP TABLE threads'],
  sort_order: ['up', 1, 'ASC'],
  limit: LIMITS,
  offset: OFFSETS,
  select: [1, {}, [1], [''], Array(101).fill('status')],
  values: OBJECTS,
  extract: [
    ...OBJECTS,
    { a: 1 },
    { a: '' },
    { a: 'value.x' },
    { a: 'values.' },
    { a: 'values[x]' },
    { a: 'values..x' },
    { a: 'values x' },
    Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, 'values'])),
  ],
};
export const PRUNE = {
  thread_ids: [null, 'x', ['x'], [1], {}, Array(1001).fill(MISSING)],
  strategy: ['archive', 1],
};
export const COUNT = { metadata: OBJECTS, values: OBJECTS, status: ['done', 1] };
const { ids: _ids, status: _status, sort_by: _sorts, values: _v, extract: _e, ...PAGE } = SEARCH;
export const ASSISTANTS = { ...PAGE, graph_id: NAMES, name: NAMES, sort_by: ['version', 1] };
export const ASSISTANT: Record<string, readonly unknown[]> = {
  graph_id: NAMES,
  config: OBJECTS,
  'config.configurable': OBJECTS,
  'config.tags': ['t', [1], {}],
  'config.recursion_limit': [0, -1, 1.5, '5'],
  context: OBJECTS,
  metadata: OBJECTS,
  name: NAMES,
  description: [1, {}, [], 'x'.repeat(10_001), '\ud800'],
};
export const NEW_ASSISTANT = {
  ...ASSISTANT,
  graph_id: [undefined, null, ...NAMES],
  assistant_id: ['x', 1, '', `${MISSING}0`],
  if_exists: ['merge', 1],
};

const {
  command: _c,
  checkpoint: _p,
  on_disconnect: _d,
  if_not_exists: _i,
  after_seconds: _a,
  ...ORDER
} = RUN;
export const CRON: Record<string, readonly unknown[]> = {
  ...Object.fromEntries(
    Object.entries(ORDER).filter(([field]) => !/^(checkpoint|on_completion)/.test(field)),
  ),
  schedule: [
    ...[undefined, null, 1, {}, [], '', ' ', 'x', '* * * *', '* * * * * * *', '* * * * * 2026', '@reboot'],
    ...['60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '*/0 * * * *', '5/2 * * * *'],
    ...['? * * * *', '-1 * * * *', '1-0 * * * *', '\u0000 * * * *', '* * * * *\n', 'é * * * *'],
    ...['0 0 30 2 *', '0 0 31 4,6 *', '2026-01-01T00:00:00', `${'1,'.repeat(200)}1 * * * *`],
  ],
  timezone: [1, {}, '', 'Mars/Phobos', '+01:00', 'UTC+1', 'Europe', '../etc', 'x'.repeat(600), '\u0000'],
  end_time: [
    1,
    {},
    '',
    'tomorrow',
    '2020-01-01',
    '2020-01-01T00:00:00Z',
    '2099-13-01T00:00:00Z',
    '2099-02-30',
    '2099-02-29T00:00:00Z',
    '2099',
  ],
  enabled: ['true', 1, {}],
  on_run_completed: ['archive', 1, 'complete'],
};
export const CRONS = {
  ...PAGE,
  assistant_id: NAMES,
  thread_id: ['x', 1, ''],
  enabled: ['true', 1],
  sort_by: ['schedule', 1, 'next_at'],
};
