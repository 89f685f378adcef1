/**
 * Takes a thread of the running server through steps over HTTP and keeps the machine beside it, fed with the facts
 * that the log recorded: the machine must have foreseen each answer, and the API must show what the machine says.
 */
import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Recorded } from '../../src/store/port/events.ts';
import { decide, type ThreadCommand } from '../../src/thread/decide.ts';
import { threadStream, type MultitaskStrategy, type ThreadEvent } from '../../src/thread/events.ts';
import { createJudge } from '../support/judge.ts';
import { activeOf, evolve, initial, isLiving, type ThreadState } from '../../src/thread/state.ts';
import type { TestServer } from '../support/with-server.ts';

export type Step =
  | { do: 'make' | 'patch' | 'write' | 'finish' | 'restart' | 'delete' }
  | { do: 'run'; strategy: MultitaskStrategy; delayed?: boolean }
  | { do: 'cancel'; which: 'active' | 'queued' | 'ended'; action: 'interrupt' | 'rollback' }
  /** Many requests at once: what they meet is up to chance. */
  | { do: 'burst' };

export interface Walk {
  /** Rejects when an answer, the facts that follow it, or what the API shows then is not what the machine says. */
  take(step: Step): Promise<void>;
  /** `before fact after` of every fact so far. */
  readonly edges: ReadonlySet<string>;
  readonly status: ThreadState['status'];
  /** Lets every graph go that still waits. */
  release(): void;
}

export function createWalk(s: TestServer): Walk {
  const threadId = randomUUID();
  const stream = threadStream(threadId);
  const url = `/threads/${threadId}`;
  const judge = createJudge(initial);
  const facts = new Map<number, Recorded>();
  const edges = new Set<string>();
  /** Runs that were accepted, with the files that they wait for. */
  const gates = new Map<string, string>();
  const delayed = new Set<string>();
  let state: ThreadState = initial;
  let version = 0;

  const note = (events: readonly Recorded[]): void => {
    for (const event of events) if (event.meta.stream === stream) facts.set(event.meta.version, event);
  };

  /** By notice, because a deletion purges at once, and by reading, because a start recovers before it tells. */
  async function follow(): Promise<void> {
    note(await s.server.log.readStream(stream, version + 1, 500));
    for (let next = facts.get(version + 1); next !== undefined; next = facts.get(version + 1)) {
      const fact = next as Recorded & ThreadEvent;
      assert.ok(judge.can([fact]), `${fact.type} follows "${judge.value}"`);
      judge.send(fact);
      const before = state.status;
      state = evolve(state, fact);
      edges.add(`${before} ${fact.type} ${state.status}`);
      assert.equal(judge.value, state.status);
      version += 1;
    }
  }

  /** Nothing more happens by itself: whoever runs waits for its file. */
  function isQuiet(): boolean {
    if (state.status === 'running') {
      const { checkpointed, attempt, begun } = state.active;
      return checkpointed && (attempt === 1 || begun === true);
    }
    if (state.status === 'queued') return state.queue.every(({ runId }) => delayed.has(runId));
    return state.status !== 'stopping';
  }

  async function settle(): Promise<void> {
    for (;;) {
      let wake: () => void = () => undefined;
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const unsubscribe = s.server.log.onCommitted(({ events }) => {
        note(events);
        wake();
      });
      try {
        await follow();
        if (isQuiet()) return;
        await woken;
      } finally {
        unsubscribe();
      }
    }
  }

  const newRun = (strategy: MultitaskStrategy): ThreadCommand => ({
    type: 'CreateRun',
    runId: randomUUID(),
    assistantId: randomUUID(),
    graphId: 'gate',
    strategy,
    assistantMetadata: {},
    ownMetadata: {},
    metadata: {},
    kwargs: { input: null, config: {}, streamMode: [], streamSubgraphs: false },
    notBefore: 0,
  });

  async function requestRun(strategy: MultitaskStrategy, later = false): Promise<number> {
    const gate = join(s.dir, `gate-${randomUUID()}`);
    const { status, json } = await s.request('POST', `${url}/runs`, {
      assistant_id: 'gate',
      multitask_strategy: strategy,
      config: { configurable: { gate } },
      ...(later && { after_seconds: 3600 }),
    });
    if (status === 200) gates.set(json.run_id, gate);
    if (status === 200 && later) delayed.add(json.run_id);
    return status;
  }

  /** Accepted when the machine allows the command, refused when not; then exactly its facts follow. */
  async function expect(command: ThreadCommand, status: number, accepted: number, refused: number) {
    const decision = decide(command, state, (wanted) => judge.can(wanted));
    assert.equal(status, decision.ok ? accepted : refused, `${command.type} in "${state.status}"`);
    const from = version;
    await settle();
    const wanted = decision.ok ? decision.events.map(({ type }) => type) : [];
    assert.deepEqual(
      wanted.map((_, index) => facts.get(from + 1 + index)?.type),
      wanted,
    );
    if (wanted.length === 0) assert.equal(version, from, 'nothing was written');
  }

  async function perform(step: Step): Promise<void> {
    const active = activeOf(state)?.runId;
    const queue = isLiving(state) ? state.queue.map(({ runId }) => runId) : [];
    switch (step.do) {
      case 'make': {
        const { status } = await s.request('POST', '/threads', {
          thread_id: threadId,
          metadata: { graph_id: 'gate' },
        });
        return expect({ type: 'CreateThread', threadId, metadata: {}, temporary: false }, status, 200, 409);
      }
      case 'patch': {
        const { status } = await s.request('PATCH', url, { metadata: { at: version } });
        return expect({ type: 'UpdateThread', metadata: {} }, status, 200, 404);
      }
      case 'write': {
        const { status } = await s.request('POST', `${url}/state`, { values: { at: version } });
        const update = { updateId: randomUUID(), checkpoints: [], head: null, next: [], interrupts: {} };
        return expect({ type: 'UpdateState', ...update }, status, 200, isLiving(state) ? 409 : 404);
      }
      case 'delete': {
        const { status } = await s.request('DELETE', url);
        return expect({ type: 'DeleteThread' }, status, 204, 404);
      }
      case 'run': {
        const status = await requestRun(step.strategy, step.delayed);
        return expect(newRun(step.strategy), status, 200, isLiving(state) ? 409 : 404);
      }
      case 'cancel': {
        const ended = [...gates.keys()].find((runId) => runId !== active && !queue.includes(runId));
        const runId = { active, queued: queue.at(-1), ended }[step.which];
        if (runId === undefined) return;
        const known = (await s.request('GET', `${url}/runs/${runId}`)).status === 200;
        const { status } = await s.request('POST', `${url}/runs/${runId}/cancel?action=${step.action}`);
        // A run that has ended is what the client asked for; one that was undone is gone.
        const command = { type: 'RequestCancel', runId, action: step.action, reason: '' } as const;
        return expect(command, status, 202, known ? 202 : 404);
      }
      case 'finish':
        if (active === undefined) return;
        writeFileSync(gates.get(active)!, '');
        await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === active);
        return settle();
      case 'restart':
        await s.restart();
        return settle();
      case 'burst': {
        const before = gates.size;
        const statuses = await Promise.all([
          ...[active, ...queue].map(async (runId) => {
            const path = `${url}/runs/${runId ?? threadId}/cancel`;
            return (await s.request('POST', path)).status;
          }),
          requestRun('reject'),
          requestRun('enqueue'),
          s.request('PATCH', url, { metadata: { at: version } }).then(({ status }) => status),
          requestRun('interrupt'),
          requestRun('reject'),
          requestRun('rollback'),
        ]);
        assert.ok(
          statuses.every((status) => [200, 202, 404, 409].includes(status)),
          statuses.join(),
        );
        const from = version;
        await settle();
        const created = [...facts.values()].filter(
          ({ type, meta }) => type === 'RunCreated' && meta.version > from,
        );
        assert.equal(created.length, gates.size - before, 'one fact for each run that was accepted');
      }
    }
  }

  async function agree(): Promise<void> {
    const { status, json } = await s.request('GET', url);
    if (!isLiving(state)) assert.equal(status, 404);
    // A thread whose last run was cancelled waits to go on.
    else if (state.status === 'idle') assert.ok(['idle', 'interrupted'].includes(json.status), json.status);
    else assert.equal(json.status, 'busy', state.status);
    for (const runId of gates.keys()) {
      const run = await s.request('GET', `${url}/runs/${runId}`);
      if (activeOf(state)?.runId === runId) assert.equal(run.json.status, 'running');
      else if (isLiving(state) && state.queue.some((queued) => queued.runId === runId))
        assert.equal(run.json.status, 'pending');
      else assert.ok(run.status === 404 || ['success', 'interrupted'].includes(run.json.status), run.text);
    }
  }

  return {
    async take(step) {
      // From before the request on: what a deletion purges is told only once.
      const unsubscribe = s.server.log.onCommitted(({ events }) => note(events));
      try {
        await perform(step);
      } finally {
        unsubscribe();
      }
      await agree();
    },
    edges,
    get status() {
      return state.status;
    },
    release: () => gates.forEach((gate) => writeFileSync(gate, '')),
  };
}
