/** Every command in every state, as one table: facts in order, or `!` and the refusal, or nothing for "it is so". */
import assert from 'node:assert/strict';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { ask, fact, given, SUCCESS } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/decide, the table');

const queued = [fact.created(), fact.runCreated('a'), fact.runCreated('b')];
const running = [...queued, fact.started('a')];

/** In the states with runs, `a` came before `b`; where one executes, it is `a`. */
const STATES: Record<string, readonly ThreadEvent[]> = {
  absent: [],
  idle: [fact.created()],
  queued,
  running,
  stopping: [...running, fact.cancelRequested('a', 'interrupt')],
  undoing: [...running, fact.cancelRequested('a', 'rollback')],
  deleted: [fact.created(), fact.deleted()],
};

const MISSING = { absent: '!thread-missing', deleted: '!thread-missing' };
const alive = (text: string): Record<string, string> => ({
  ...MISSING,
  ...Object.fromEntries(['idle', 'queued', 'running', 'stopping', 'undoing'].map((state) => [state, text])),
});
const STALE = alive('!lease-stale');
const ONE_STOP = 'RunCreated RunCompleted RunCancelRequested';

const TABLE: [command: ThreadCommand, label: string, expected: Record<string, string>][] = [
  [
    ask.createThread(),
    'CreateThread',
    { ...alive('!thread-exists'), absent: 'ThreadCreated', deleted: 'ThreadCreated' },
  ],
  [ask.updateThread({ k: 1 }), 'UpdateThread', alive('ThreadUpdated')],
  [ask.updateState('u', 'u1'), 'UpdateState', { ...alive('!thread-busy'), idle: 'StateUpdated' }],
  [ask.createRun('c', 'reject'), 'CreateRun reject', { ...alive('!thread-busy'), idle: 'RunCreated' }],
  [ask.createRun('c', 'enqueue'), 'CreateRun enqueue', alive('RunCreated')],
  [
    ask.createRun('c', 'interrupt'),
    'CreateRun interrupt',
    {
      ...alive('RunCreated RunCompleted'),
      idle: 'RunCreated',
      queued: 'RunCreated RunCompleted RunCompleted',
      running: ONE_STOP,
    },
  ],
  [
    ask.createRun('c', 'rollback'),
    'CreateRun rollback',
    {
      ...alive('RunCreated RunCompleted'),
      idle: 'RunCreated',
      queued: 'RunCreated RunCompleted RunCompleted',
      running: ONE_STOP,
      // What is only being stopped has to be undone now.
      stopping: ONE_STOP,
    },
  ],
  [ask.createRun('b'), 'CreateRun of a run that waits', { ...alive('!run-exists'), idle: 'RunCreated' }],
  [ask.start('a'), 'StartRun', { ...alive('!thread-busy'), idle: '!run-not-open', queued: 'RunStarted' }],
  [
    ask.start('x'),
    'StartRun of nothing',
    { ...alive('!thread-busy'), idle: '!run-not-open', queued: '!run-not-open' },
  ],
  [
    ask.cancel('a'),
    'RequestCancel of the first',
    {
      ...MISSING,
      idle: '!run-not-open',
      queued: 'RunCompleted',
      running: 'RunCancelRequested',
      stopping: '',
      undoing: '',
    },
  ],
  [
    ask.cancel('a', 'rollback'),
    'RequestCancel rollback of the first',
    {
      ...MISSING,
      idle: '!run-not-open',
      queued: 'RunCompleted',
      running: 'RunCancelRequested',
      stopping: 'RunCancelRequested',
      undoing: '',
    },
  ],
  [ask.cancel('b'), 'RequestCancel of the second', { ...alive('RunCompleted'), idle: '!run-not-open' }],
  [ask.cancel('x'), 'RequestCancel of nothing', alive('!run-not-open')],
  [ask.begin('a'), 'BeginRun', { ...STALE, running: 'RunBegun', stopping: 'RunBegun', undoing: 'RunBegun' }],
  [ask.begin('a', 1, 'other'), 'BeginRun with another lease', STALE],
  [ask.begin('a', 2), 'BeginRun of another attempt', STALE],
  [
    ask.save('a', 'c1'),
    'SaveCheckpoint',
    { ...STALE, running: 'CheckpointSaved', stopping: 'CheckpointSaved', undoing: 'CheckpointSaved' },
  ],
  [ask.save('a', 'c1', 1, 'other'), 'SaveCheckpoint with another lease', STALE],
  [ask.save('a', 'c1', 2), 'SaveCheckpoint of another attempt', STALE],
  [ask.save('b', 'c1'), 'SaveCheckpoint of a run that waits', STALE],
  [
    ask.complete('a'),
    'CompleteRun',
    { ...STALE, running: 'RunCompleted', stopping: 'RunCompleted', undoing: 'RunCompleted' },
  ],
  [ask.complete('a', SUCCESS, 1, 'other'), 'CompleteRun with another lease', STALE],
  [ask.complete('a', SUCCESS, 2), 'CompleteRun of another attempt', STALE],
  [ask.complete('b'), 'CompleteRun of a run that waits', STALE],
  [
    ask.requeue('a'),
    'RequeueRun',
    { ...STALE, running: 'RunRequeued', stopping: 'RunCompleted', undoing: 'RunCompleted' },
  ],
  [ask.requeue('a', 1, 'other'), 'RequeueRun with another lease', STALE],
  [
    ask.abandon('a'),
    'AbandonAttempt',
    { ...alive('!run-not-open'), running: 'RunRequeued', stopping: 'RunCompleted', undoing: 'RunCompleted' },
  ],
  [
    ask.abandon('a', 1),
    'AbandonAttempt of the last attempt',
    { ...alive('!run-not-open'), running: 'RunCompleted', stopping: 'RunCompleted', undoing: 'RunCompleted' },
  ],
  [ask.abandon('b'), 'AbandonAttempt of a run that waits', alive('!run-not-open')],
  [
    ask.deleteThread(),
    'DeleteThread',
    { ...alive('RunCompleted RunCompleted ThreadDeleted'), idle: 'ThreadDeleted' },
  ],
];

test('D2 D3 X1 X2 X3 every command in every state gives the events or refusal of the table', () => {
  const seen: Record<string, Record<string, string>> = {};
  const wanted: Record<string, Record<string, string>> = {};
  for (const [command, label, expected] of TABLE)
    for (const [state, history] of Object.entries(STATES)) {
      const outlook = given(...history).when(command);
      (seen[label] ??= {})[state] = outlook.text;
      (wanted[label] ??= {})[state] = expected[state]!;
      // Walks the machine through the facts: what is accepted can happen.
      if (!outlook.text.startsWith('!')) outlook.then(...outlook.events);
    }
  assert.deepEqual(seen, wanted);
});

test('given the table, when its commands are listed, then every kind of command is among them', () => {
  const kinds = new Set(TABLE.map(([command]) => command.type));
  assert.equal(kinds.size, 12);
});

test.run();
