import assert from 'node:assert/strict';
import { decide, type AssistantCommand } from '../../../src/assistant/decide.ts';
import type { AssistantContent, AssistantEvent } from '../../../src/assistant/events.ts';
import { canFollow, contentOf, evolve, initial, type AssistantState } from '../../../src/assistant/state.ts';
import { suite } from '../../support/suite.ts';

const test = suite('assistant/decide');

const content = (name: string, metadata = {}): AssistantContent => ({
  ...{ graphId: 'g', name, description: null, config: {}, context: {}, metadata },
});
const create = (name: string, metadata = {}, system = false): AssistantCommand => ({
  ...{ type: 'CreateAssistant', assistantId: 'a', content: content(name, metadata), system },
});

/** Decides commands one after the other; every fact has to be one that can follow. */
function take(...commands: AssistantCommand[]): {
  facts: AssistantEvent[];
  refusals: string[];
  state: AssistantState;
} {
  const facts: AssistantEvent[] = [];
  const refusals: string[] = [];
  const versions = new Map<number, AssistantContent>();
  let state: AssistantState = initial;
  for (const command of commands) {
    const decided = decide(
      command,
      state,
      command.type === 'SetAssistantVersion' ? versions.get(command.version) : undefined,
    );
    if (!decided.ok) {
      refusals.push(decided.refusal.code);
      continue;
    }
    const { event } = decided;
    assert.ok(canFollow(state, event), event.type);
    if (event.type === 'AssistantCreated') versions.clear();
    if (event.type === 'AssistantCreated' || event.type === 'AssistantUpdated')
      versions.set('version' in event.data ? event.data.version : 1, contentOf(event.data));
    facts.push(event);
    state = evolve(state, event);
  }
  return { facts, refusals, state };
}

const update = (changes: Partial<AssistantContent> = {}): AssistantCommand => ({
  type: 'UpdateAssistant',
  changes,
});
const setVersion = (version: number): AssistantCommand => ({ type: 'SetAssistantVersion', version });

test('given no assistant, when it is changed, set back or deleted, then it is missing and nothing follows', () => {
  const { facts, refusals } = take(update(), setVersion(1), { type: 'DeleteAssistant' });
  assert.deepEqual(facts, []);
  assert.deepEqual(refusals, ['assistant-missing', 'assistant-missing', 'assistant-missing']);
});

test('an update after an earlier version was set current gets the highest number plus one', () => {
  const { state, facts } = take(
    create('one', { a: 1 }),
    update({ name: 'two', metadata: { b: 2 } }),
    setVersion(1),
    update(),
  );
  assert.deepEqual(
    facts.map(({ data }) => ('version' in data ? data.version : 1)),
    [1, 2, 1, 3],
  );
  assert.ok(state.status === 'living');
  assert.deepEqual(
    [state.version, state.newest, state.content.name, state.content.metadata],
    [3, 3, 'one', { a: 1 }],
  );
});

test('given an assistant, when a version that never was is set, then it is missing', () => {
  const { refusals } = take(create('one'), setVersion(2), setVersion(0), setVersion(-1), setVersion(1));
  assert.deepEqual(refusals, ['version-missing', 'version-missing', 'version-missing']);
});

test("a deleted assistant's id starts over without its earlier versions", () => {
  const { state, refusals } = take(
    create('one'),
    create('again'),
    update({ name: 'two' }),
    { type: 'DeleteAssistant' },
    update(),
    create('three'),
    setVersion(2),
  );
  assert.deepEqual(refusals, ['assistant-exists', 'assistant-missing', 'version-missing']);
  assert.ok(state.status === 'living');
  assert.deepEqual([state.content.name, state.version, state.newest], ['three', 1, 1]);
});

test('clients can neither set nor remove the mark of system assistants', () => {
  const user = take(
    create('mine', { created_by: 'system', a: 1 }),
    update({ metadata: { created_by: 'system' } }),
  );
  const system = take(create('own', {}, true), update({ metadata: { created_by: 'me', b: 1 } }));
  const metadataOf = ({ state }: { state: AssistantState }): unknown =>
    state.status === 'living' && state.content.metadata;
  assert.deepEqual(metadataOf(user), { a: 1 });
  assert.deepEqual(metadataOf(system), { created_by: 'system', b: 1 });
  assert.deepEqual(metadataOf(take(create('mine', { created_by: 'ann' }))), { created_by: 'ann' });
});

test.run();
