/**
 * Readers of streams, who come and go and go on after the last id that they have seen.
 *
 * S2 Every reader gets every frame of a run once, in order, with the content that was committed, whenever it comes. A
 * stream ends when its run has. What a rollback or a deletion takes away is not missed.
 */
import assert from 'node:assert/strict';
import type { ThreadEvent } from '../../src/protocol/event.ts';
import { parseSeq, START } from '../../src/protocol/stream-cursor.ts';
import type { Services, World } from './process.ts';

export interface Readers {
  /** One comes, or comes back, or leaves. */
  act(services: Services, threadIds: readonly string[], runIds: readonly string[]): void;
  /** All that are not done come back and stay. */
  stay(services: Services): void;
  /** All are cut off; those of a dead server never hear of it. */
  leave(): void;
  /** Who has not read everything. */
  behind(): string[];
}

interface Reader {
  readonly name: string;
  connection: AbortController | undefined;
  isDone(): boolean;
  read(services: Services, signal: AbortSignal): Promise<void>;
}

export function createReaders(world: World): Readers {
  const { schedule, random, faults, ledger, disk, fail } = world;
  const readers: Reader[] = [];
  /** What some reader got of each thread's events, by number. */
  const told = new Map<string, string>();

  const pause = (): Promise<void> => new Promise((resolve) => schedule.soon('reader', resolve));
  const framesOf = (runId: string): readonly string[] => disk.frames.get(runId) ?? [];
  const isWhole = (runId: string): boolean => !disk.forgotten.has(runId) && !ledger.hasVanished(runId);

  function ofRun(runId: string): Reader {
    let last = -1;
    let ended = false;
    return {
      name: `run ${runId}`,
      connection: undefined,
      isDone: () => ended || !ledger.runs.has(runId),
      async read({ streams }, signal) {
        const isKnown = ledger.runs.has(runId);
        for await (const page of streams.read(
          { runId, threadId: ledger.runs.get(runId)?.threadId ?? '' },
          last,
          signal,
        )) {
          if (signal.aborted) return;
          for (const { id, event, data } of page) {
            assert.equal(id, last + 1, `S2 run ${runId}: frame ${id} comes after ${last}`);
            assert.equal(`${event} ${data}`, framesOf(runId)[id], `S2 run ${runId}: frame ${id} differs`);
            last = id;
          }
          await pause();
        }
        if (signal.aborted || !isKnown) return;
        assert.ok(ledger.runs.get(runId)!.outcome, `S2 the stream of run ${runId} ended before the run`);
        if (isWhole(runId))
          assert.equal(last, framesOf(runId).length - 1, `S2 run ${runId}: frames are missing`);
        ended = true;
      },
    };
  }

  /** Turns of the thread that every reader from the beginning must have seen the end of. */
  const endedOrdinals = (threadId: string): number[] =>
    [...(ledger.runsByOrdinal.get(threadId) ?? [])].flatMap(([ordinal, runId]) =>
      isWhole(runId) && ledger.runs.get(runId)!.outcome !== undefined ? [ordinal] : [],
    );
  const isVisible = (threadId: string): boolean =>
    disk.rows.get('SELECT 1 AS x FROM threads WHERE thread_id = @threadId', { threadId }) !== undefined;

  function ofThread(threadId: string): Reader {
    let place = '-';
    let [ordinal, next] = [0, 0];
    const seen = new Set<number>();
    function take(id: string, event: string, data: string): void {
      const [text, part] = id.split('-') as [string, string];
      const isNext = Number(text) > ordinal;
      assert.ok(isNext || Number(text) === ordinal, `S2 thread ${threadId}: ${id} comes after ${place}`);
      if (isNext) [ordinal, next] = [Number(text), 0];
      const runId = ledger.runsByOrdinal.get(threadId)?.get(ordinal);
      assert.ok(runId !== undefined, `S2 thread ${threadId}: ${id} is of no run`);
      if (part === 'done') {
        assert.ok(!seen.has(ordinal), `S2 thread ${threadId}: ${id} comes twice`);
        if (isWhole(runId)) assert.equal(next, framesOf(runId).length, `S2 ${id}: frames are missing`);
        seen.add(ordinal);
      } else {
        assert.equal(Number(part), next, `S2 thread ${threadId}: ${id} comes after ${place}`);
        assert.equal(`${event} ${data}`, framesOf(runId)[next], `S2 thread ${threadId}: ${id} differs`);
        next += 1;
      }
      place = id;
    }
    return {
      name: `thread ${threadId}`,
      connection: undefined,
      isDone: () => !isVisible(threadId) || endedOrdinals(threadId).every((ended) => seen.has(ended)),
      async read({ threadStreams }, signal) {
        const options = {
          ...{ modes: ['run_modes'] as const, after: place, signal },
          visible: async () => isVisible(threadId),
          state: async () => undefined,
        };
        for await (const page of await threadStreams.read(threadId, options)) {
          if (signal.aborted) return;
          for (const { id, event, data } of page) take(id, event, data);
          await pause();
        }
      },
    };
  }

  function ofEvents(threadId: string): Reader {
    let seq = 0;
    function take(event: ThreadEvent): void {
      assert.ok(event.seq > seq, `S2 thread ${threadId}: event ${event.seq} comes after ${seq}`);
      seq = event.seq;
      const runId = ledger.runsByOrdinal.get(threadId)?.get(parseSeq(seq)!.ordinal) ?? '';
      if (!isWhole(runId)) return;
      const [key, text] = [`${threadId} ${seq}`, JSON.stringify(event)];
      assert.equal(
        text,
        told.get(key) ?? text,
        `S2 thread ${threadId}: event ${seq} differs from reader to reader`,
      );
      told.set(key, text);
    }
    return {
      name: `events of thread ${threadId}`,
      connection: undefined,
      isDone: () =>
        !isVisible(threadId) || (parseSeq(seq)?.ordinal ?? 0) >= Math.max(0, ...endedOrdinals(threadId)),
      async read({ threadEvents }, signal) {
        const after = seq === 0 ? START : parseSeq(seq)!;
        const reader = threadEvents.read(threadId, { after, visible: async () => isVisible(threadId) });
        signal.addEventListener('abort', reader.close, { once: true });
        while (!signal.aborted) {
          const events = await reader.poll();
          if (signal.aborted) break;
          if (events === undefined) await reader.wait(signal);
          else events.forEach(take);
        }
        reader.close();
      },
    };
  }

  function connect(reader: Reader, services: Services): void {
    const connection = new AbortController();
    reader.connection = connection;
    reader
      .read(services, connection.signal)
      .catch((error: unknown) => {
        if (!connection.signal.aborted) fail(error);
      })
      .finally(() => {
        if (reader.connection === connection) reader.connection = undefined;
      });
  }

  return {
    act(services, threadIds, runIds) {
      const kind = random.pick(['run', 'run', 'thread', 'events', 'old', 'old', 'old', 'old']);
      if (kind === 'run' && runIds.length > 0) readers.push(ofRun(random.pick(runIds.slice(-6))));
      else if (kind === 'thread' && threadIds.length > 0) readers.push(ofThread(random.pick(threadIds)));
      else if (kind === 'events' && threadIds.length > 0) readers.push(ofEvents(random.pick(threadIds)));
      if (readers.length === 0) return;
      const reader = random.pick(readers.slice(-8));
      if (reader.connection === undefined) return connect(reader, services);
      faults.count('reader disconnects');
      reader.connection.abort();
      reader.connection = undefined;
    },
    stay(services) {
      for (const reader of readers)
        if (reader.connection === undefined && !reader.isDone()) connect(reader, services);
    },
    leave() {
      for (const reader of readers) {
        reader.connection?.abort();
        reader.connection = undefined;
      }
    },
    behind: () => readers.filter((reader) => !reader.isDone()).map(({ name }) => name),
  };
}
