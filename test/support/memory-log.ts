import type { DomainEvent, Recorded } from '../../src/store/port/events.ts';
import type { Batch, CommitResult, EventLog, Notice, Receipt, Snapshot } from '../../src/store/port/log.ts';
import { noticeOf } from '../../src/store/port/notice.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import type { ThreadEvent } from '../../src/thread/events.ts';
import { redact } from '../../src/thread/redact.ts';

/**
 * An event log without a disk: events, snapshots, receipts, leases and the purge of a stream, by the rules of the
 * port. It keeps no rows and no other payloads, and says so when it is asked for them.
 */
export function createMemoryLog(options: {
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}): EventLog {
  const events: Recorded[] = [];
  const versions = new Map<string, number>();
  const snapshots = new Map<string, Snapshot>();
  const receipts = new Map<string, Receipt>();
  const leases = new Map<string, string>();
  const listeners = new Set<(notice: Notice) => void>();
  let waiting: { batch: Batch; resolve(result: CommitResult): void }[] = [];
  let position = 0;
  let notices = 0;
  let closed = false;

  const leaseKey = (attempt: number, leaseId: string): string => `${attempt} ${leaseId}`;
  const versionOf = (stream: string): number => versions.get(stream) ?? 0;

  function apply(batch: Batch): CommitResult {
    const { commandId, repeatable = false, appends, payloads = [], lease } = batch;
    const earlier = repeatable ? receipts.get(commandId) : undefined;
    if (earlier !== undefined) return { kind: 'duplicate', receipt: earlier };
    if (lease !== undefined && leases.get(lease.runId) !== leaseKey(lease.attempt, lease.leaseId))
      return { kind: 'fenced-out' };
    for (const { stream, expected } of appends)
      if (versionOf(stream) !== expected) return { kind: 'version-conflict', stream };
    const at = options.now();
    const recorded = appends.flatMap(({ stream, expected, events: facts, times, snapshot }) => {
      const version = expected + facts.length;
      versions.set(stream, version);
      if (snapshot !== undefined) snapshots.set(stream, { version, state: structuredClone(snapshot) });
      return facts.map((fact, index) =>
        record(fact, stream, expected + index + 1, times?.[index] ?? at, commandId),
      );
    });
    for (const { type, data } of recorded) {
      if (type === 'RunStarted') leases.set(data.runId, leaseKey(data.attempt, data.leaseId));
      if (type === 'RunRequeued' || type === 'RunCompleted') leases.delete(data.runId);
    }
    events.push(...recorded);
    for (const write of payloads) keep(write);
    const receipt = { events: recorded, at };
    if (recorded.length > 0 && repeatable) receipts.set(commandId, receipt);
    return { kind: 'committed', receipt };
  }

  function record(
    fact: DomainEvent,
    stream: string,
    version: number,
    at: number,
    commandId: string,
  ): Recorded {
    position += 1;
    return { ...structuredClone(fact), meta: { position, stream, version, at, commandId } };
  }

  function keep(write: PayloadWrite): void {
    if (write.kind === 'purge-thread' || write.kind === 'purge-stream') {
      const kept = events.filter(
        ({ meta }) => meta.stream !== write.stream || meta.version >= write.tombstone,
      );
      events.splice(0, Infinity, ...kept);
    }
    if (write.kind === 'redact-runs') {
      const wanted = new Set(write.runIds);
      events.forEach((event, index) => {
        if (event.meta.stream !== write.stream) return;
        const { data } = redact(event as ThreadEvent, wanted);
        events[index] = { ...event, data } as Recorded;
      });
    }
  }

  function flush(): void {
    const group = waiting.splice(0);
    const committed: { batch: Batch; receipt: Receipt }[] = [];
    for (const { batch, resolve } of group) {
      const result = apply(batch);
      if (result.kind === 'committed') committed.push({ batch, receipt: result.receipt });
      resolve(result);
    }
    const notice = noticeOf(committed, notices + 1);
    if (notice.events.length + notice.frames.size === 0) return;
    notices += 1;
    queueMicrotask(() => announce(notice));
  }

  function announce(notice: Notice): void {
    for (const listener of [...listeners])
      try {
        listener(notice);
      } catch (error) {
        options.onFault(error);
      }
  }

  return {
    place: 'memory',
    bytes: async () => 0,
    commit(batch) {
      if (closed) return Promise.resolve({ kind: 'unknown-outcome', cause: 'the log is closed' });
      if (waiting.length === 0) setImmediate(flush);
      return new Promise((resolve) => waiting.push({ batch, resolve }));
    },
    readStream: async (stream, from, limit) =>
      structuredClone(
        events.filter(({ meta }) => meta.stream === stream && meta.version >= from).slice(0, limit),
      ),
    readAll: async (after, limit) =>
      structuredClone(events.filter(({ meta }) => meta.position > after).slice(0, limit)),
    loadSnapshot: async (stream) => structuredClone(snapshots.get(stream)),
    streamVersion: async (stream) => versionOf(stream),
    onCommitted(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    follow: () => () => undefined,
    // Nothing here can fail half-way.
    onPoisoned: () => () => undefined,
    payloads: absent('payloads'),
    views: absent('views'),
    nodes: absent('nodes'),
    async close() {
      if (waiting.length > 0) flush();
      closed = true;
    },
  };
}

function absent<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get: () => () => {
      throw new Error(`the memory log keeps no ${what}`);
    },
  });
}
