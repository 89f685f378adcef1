/**
 * Clients: they ask for everything that can be asked for, and remember what they were told.
 *
 * L1 What was acknowledged is in the log. D3 What was refused left nothing. L4 Who was told nothing asks again with
 * the same command id, and learns what became of the first time.
 */
import assert from 'node:assert/strict';
import type { Dispatched } from '../../src/actors/threads.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import type { NewRun, ThreadCommand } from '../../src/thread/decide.ts';
import { threadStream } from '../../src/thread/events.ts';
import { ask } from '../support/given.ts';
import type { Services, World } from './process.ts';

export interface Clients {
  /** One of them asks for something. */
  act(services: Services): void;
  /** The server is gone: who waits for an answer gets none. */
  lost(): void;
  readonly threadIds: readonly string[];
  readonly runIds: readonly string[];
  /** How many wait for an answer. */
  waiting(): number;
}

interface Request {
  readonly commands: readonly ThreadCommand[];
  readonly payloads?: readonly PayloadWrite[];
}

interface Asked {
  readonly commandId: string;
  readonly threadId: string;
  /** Makes the request: each repetition that creates a run draws an id for it, as the server does. */
  readonly request: () => Request;
}

const STRATEGIES = ['reject', 'enqueue', 'enqueue', 'enqueue', 'interrupt', 'rollback'] as const;

export function createClients(world: World): Clients {
  const { schedule, random, ids, faults, ledger, receivers, fail } = world;
  const threadIds: string[] = [];
  const runIds: string[] = [];
  const open = new Set<Asked>();
  const others = new Set<Promise<unknown>>();
  /** Asked, and never answered. */
  const unanswered: Asked[] = [];
  const mostThreads = random.int(1, 4);

  function send(services: Services, asked: Asked): void {
    const { commandId, threadId } = asked;
    const { commands, payloads = [] } = asked.request();
    const what = commands.map(({ type }) => type).join('+');
    const isDone = ledger.commands.has(commandId);
    open.add(asked);
    schedule.note(`  client: ${what} ${threadId} ${commandId}`);
    services.threads.dispatch(threadId, commands, { commandId, payloads }).then(
      (result) => {
        if (!open.delete(asked)) return;
        schedule.note(`  answer: ${commandId} ${result.ok ? 'done' : result.refusal.code}`);
        try {
          judge(what, commandId, result, isDone);
        } catch (error) {
          fail(error);
        }
      },
      (error: unknown) => {
        if (!open.delete(asked)) return;
        if (error instanceof Error && error.name === 'LogUnavailable') unanswered.push(asked);
        else fail(error);
      },
    );
  }

  function judge(what: string, commandId: string, result: Dispatched, wasDone: boolean): void {
    const isThere = ledger.commands.has(commandId);
    // With a deleted run the command that created it is forgotten.
    if (wasDone && isThere)
      assert.ok(result.ok, `L4 ${what} was done and is refused when it is asked for again`);
    else if (!result.ok) assert.ok(!isThere, `D3 ${what} was refused and left facts`);
    else if (result.events.length > 0)
      // Another server may have deleted it meanwhile.
      assert.ok(
        isThere || ledger.heard.some(({ meta }) => meta.commandId === commandId),
        `L1 ${what} was acknowledged and is not in the log`,
      );
  }

  function ofNew(services: Services, threadId: string, request: Asked['request']): void {
    send(services, { commandId: ids.uuid(), threadId, request });
  }

  function createThread(services: Services): void {
    const threadId = ids.uuid();
    threadIds.push(threadId);
    const ttl = { strategy: random.pick(['delete', 'keep-latest'] as const), minutes: random.pick([0.2, 5]) };
    const create = ask.createThread({}, threadId);
    const command = random.chance(0.15) ? ({ ...create, ttl } as ThreadCommand) : create;
    ofNew(services, threadId, () => ({ commands: [command] }));
  }

  function createRun(services: Services, threadId: string): void {
    const strategy = random.pick(STRATEGIES);
    const more: Partial<NewRun> = {
      notBefore: random.chance(0.2) ? schedule.now() + random.int(1, 5_000) : 0,
      kwargs: {
        ...{ input: null, config: {}, streamMode: ['values'], streamSubgraphs: false },
        ...(random.chance(0.5) && { webhook: receivers.pickUrl() }),
      },
    };
    ofNew(services, threadId, () => {
      const runId = ids.uuid();
      runIds.push(runId);
      world.planOf(runId);
      const payloads = [{ kind: 'secret', runId, threadId, data: '{}' } as const];
      return { commands: [ask.createRun(runId, strategy, more)], payloads };
    });
  }

  async function updateState({ threads }: Services, threadId: string): Promise<void> {
    const [updateId, checkpointId] = [ids.uuid(), ids.uuid()];
    const version = await world.disk.streamVersion(threadStream(threadId));
    const checkpoint = {
      ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: { step: -1 }, valueChannels: ['at'] },
      channelVersions: { at: checkpointId },
      blobs: [{ channel: 'at', version: checkpointId, data: JSON.stringify(checkpointId) }],
    };
    await threads.dispatch(threadId, [ask.updateState(updateId, checkpointId)], {
      payloads: [{ kind: 'checkpoint', threadId, runId: updateId, checkpoint }],
      expectedVersion: random.chance(0.2) ? version - 1 : version,
    });
  }

  /** What has no command id is asked for once. */
  function once(asked: Promise<unknown>): void {
    others.add(asked);
    asked
      .catch((error: unknown) => {
        if (!(error instanceof Error && error.name === 'LogUnavailable')) fail(error);
      })
      .finally(() => others.delete(asked));
  }

  function something(services: Services): void {
    const threadId = random.pick(threadIds);
    const runId = runIds.length > 0 ? random.pick(runIds.slice(-4)) : undefined;
    const ofRun = ledger.runs.get(runId ?? '')?.threadId;
    const roll = random.int(1, 100);
    if (roll <= 50 || runId === undefined) return createRun(services, threadId);
    if (roll <= 55) return ofNew(services, threadId, () => ({ commands: [ask.updateThread({ roll })] }));
    if (roll <= 62) return once(updateState(services, threadId));
    if (roll <= 66) return once(services.maintenance.keepLatest(threadId));
    if (roll <= 70 && ofRun) return once(services.maintenance.deleteRun(ofRun, runId));
    if (roll <= 74) {
      threadIds.splice(threadIds.indexOf(threadId), 1);
      return ofNew(services, threadId, () => ({ commands: [ask.deleteThread()] }));
    }
    if (ofRun) {
      const cancel = ask.cancel(runId, random.pick(['interrupt', 'rollback']));
      ofNew(services, ofRun, () => ({ commands: [cancel] }));
    }
  }

  return {
    act(services) {
      const again = unanswered.length > 0 && random.chance(0.6) ? unanswered.shift() : undefined;
      if (again !== undefined) {
        faults.count('command repeated');
        send(services, again);
      } else if (threadIds.length < mostThreads) createThread(services);
      else something(services);
    },
    lost() {
      unanswered.push(...open);
      open.clear();
      others.clear();
    },
    waiting: () => open.size + others.size,
    threadIds,
    runIds,
  };
}
