/**
 * The log as one process has it: the disk behind a wire on which commits wait, answers get lost, notices come late,
 * twice or not at all, and reads show what was. A dead process hears nothing any more.
 */
import type { Batch, CommitResult, EventLog, Notice } from '../../src/store/port/log.ts';
import type { Random } from '../support/random.ts';
import type { Nodes } from '../../src/store/port/nodes.ts';
import type { Disk } from './disk.ts';
import type { Faults } from './faults.ts';
import type { Schedule } from './schedule.ts';
import type { Views } from '../../src/store/port/views/views.ts';

type Questions = Record<string, (...args: unknown[]) => unknown>;
const DIRECT: ReadonlySet<string> = new Set(['made', 'scan', 'namespaces']);

export interface FaultLog extends EventLog {
  /** `zombie`: what it still writes with a lease arrives, long after. */
  die(zombie: boolean): void;
  /** The cause when a commit was of unknown outcome. */
  readonly poisoned: string | undefined;
  readonly listeners: number;
}

export interface FaultLogOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly disk: Disk;
  readonly nodes: (views: Views) => Nodes;
  /** Others use the disk too: what is of unknown outcome is asked for again, and no process ends for it. */
  readonly isShared: boolean;
  /** Something has happened after which another process may do again what this one does. */
  readonly onDisruption: () => void;
  /** The machine stops, at once. */
  readonly crash: (why: string) => void;
  readonly fail: (error: unknown) => void;
}

interface Waiting {
  readonly batch: Batch;
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

/** A dead process's writes arrive when another one has long taken over. */
const MUCH_LATER_MS = 10_000;
const MAX_IN_ONE_STEP = 10_000;

export function openFaultLog(options: FaultLogOptions): FaultLog {
  const { schedule, random, faults, disk, isShared, onDisruption, crash, fail } = options;
  const listeners = new Set<(notice: Notice) => void>();
  const poisonListeners = new Set<(cause: string) => void>();
  let queue: Waiting[] = [];
  let writing = false;
  let life: 'alive' | 'closed' | 'zombie' | 'dead' = 'alive';
  let poisoned: string | undefined;
  let drained: (() => void)[] = [];
  let count = { step: 0, times: 0 };

  const isDead = (): boolean => life === 'dead';
  const write = (label: string, work: () => void): void => {
    writing = true;
    schedule.soon(label, work);
  };

  function flush(): void {
    if (life === 'dead' || life === 'zombie') return;
    const group = queue.splice(0, random.chance(0.7) ? queue.length : 1);
    if (group.length > 1) faults.count('commits share a transaction');
    if (faults.happens('crash before a commit')) return crash('before a commit');
    if (faults.happens('unknown outcome, not written')) return unknown('not written', group);
    // What others have announced, these listeners do not hear.
    disk.announced();
    const settled = group.map(({ batch }) =>
      disk.commit(batch).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      ),
    );
    void Promise.all(settled).then((answers) => {
      schedule.note(`  ${group.map(({ batch }, index) => describe(batch, answers[index]!)).join(' | ')}`);
      const notices = disk.announced();
      if (faults.happens('crash after a commit, before its answer')) return crash('after a commit');
      if (!isShared && faults.happens('unknown outcome, written')) return poison('written', group);
      const answer = (): void => {
        if (life === 'dead' || life === 'zombie') return;
        group.forEach(({ resolve, reject }, index) => {
          const settlement = answers[index]!;
          if ('result' in settlement) resolve(settlement.result);
          else reject(settlement.error);
        });
        notices.forEach(announce);
        next();
      };
      if (isShared && faults.happens('unknown outcome, written')) unanswered('written', group, answer);
      else if (faults.happens('answer of a commit late')) schedule.soon('answer', answer);
      else answer();
    });
  }

  function next(): void {
    writing = false;
    if (queue.length > 0) write('commit', flush);
    else for (const done of drained.splice(0)) done();
  }

  function announce(notice: Notice): void {
    if (faults.happens('notice lost')) return;
    const tell = (): void => {
      // What a listener throws would go to `onFault`; ours are not to throw.
      if (life === 'alive') for (const listener of [...listeners]) listener(notice);
    };
    if (faults.happens('notice late')) schedule.soon('late notice', tell);
    else queueMicrotask(tell);
    if (faults.happens('notice repeated')) schedule.soon('repeated notice', tell);
  }

  const unknown = (how: string, group: readonly Waiting[]): void =>
    isShared ? unanswered(how, group, () => again(group)) : poison(how, group);

  /** The store is asked again, and says soon what has become of it, or too late for those that wait. */
  function unanswered(how: string, group: readonly Waiting[], settle: () => void): void {
    schedule.note(`  no answer: ${how}`);
    onDisruption();
    if (random.chance(0.7))
      return void schedule.at(schedule.elapsed + random.int(0, 3_000), 'asked again', settle);
    schedule.at(schedule.elapsed + MUCH_LATER_MS, 'given up', () => {
      if (life === 'dead' || life === 'zombie') return;
      const cause = `simulated: ${how}`;
      for (const { resolve } of group) resolve({ kind: 'unknown-outcome', cause });
      next();
    });
  }

  function again(group: readonly Waiting[]): void {
    queue = [...group, ...queue];
    flush();
  }

  function poison(how: string, group: readonly Waiting[]): void {
    poisoned = `simulated: ${how}`;
    schedule.note(`  outcome unknown: ${how}`);
    const cause = poisoned;
    for (const { resolve } of [...group, ...queue.splice(0)]) resolve({ kind: 'unknown-outcome', cause });
    for (const listener of [...poisonListeners]) listener(cause);
    next();
    // The process is told to end, and takes its time.
    schedule.at(schedule.elapsed + random.pick([0, 1, 50, 1_000]), 'end of the poisoned', () =>
      crash('of a poisoned log'),
    );
  }

  function commit(batch: Batch): Promise<CommitResult> {
    if (life === 'dead' || (life === 'zombie' && batch.lease === undefined)) return never();
    const cause = poisoned ?? (life === 'closed' ? 'the log is closed' : undefined);
    if (cause !== undefined) return Promise.resolve({ kind: 'unknown-outcome', cause });
    if (life === 'zombie') return writeLate(batch);
    return new Promise((resolve, reject) => {
      queue.push({ batch, resolve, reject });
      if (!writing) write('commit', flush);
    });
  }

  const writeLate = (batch: Batch): Promise<CommitResult> =>
    new Promise((resolve, reject) => {
      schedule.at(schedule.elapsed + MUCH_LATER_MS, 'write of a dead process', () => {
        faults.count('write of a dead process');
        disk.commit(batch).then((result) => {
          schedule.note(`  ${describe(batch, { result })}`);
          resolve(result);
        }, reject);
      });
    });

  /** What is read is true at some moment between the question and its answer. */
  async function read<T>(ask: () => Promise<T>): Promise<T> {
    if (isDead()) return never();
    counted(() => undefined);
    const past = faults.happens('read of the past');
    if (!past && !faults.happens('read late')) return ask();
    const before = past ? await ask() : undefined;
    await new Promise<void>((resolve) => schedule.soon('answer to a read', resolve));
    if (isDead()) return never();
    return past ? (before as T) : ask();
  }

  /** X4 Somebody who asks on and on within one step lets nobody else have a turn. */
  function counted<T>(ask: () => T): T {
    if (schedule.steps !== count.step) count = { step: schedule.steps, times: 0 };
    count.times += 1;
    if (count.times > MAX_IN_ONE_STEP) {
      const error = new Error('X4 a loop keeps the process to itself');
      fail(error);
      throw error;
    }
    return ask();
  }

  /** Answers that are no promise read nothing, or a page at a time. */
  const viaRead = (questions: Questions): Questions =>
    Object.fromEntries(
      Object.entries(questions).map(([name, ask]) => [
        name,
        DIRECT.has(name) ? ask : (...args: unknown[]) => read(async () => ask(...args)),
      ]),
    );

  const { views, payloads } = disk;
  const asked = Object.fromEntries(
    Object.entries(views).map(([aggregate, questions]) => [aggregate, viaRead(questions as Questions)]),
  ) as unknown as Views;
  return {
    place: disk.place,
    bytes: disk.bytes,
    commit,
    readStream: (...args) => read(() => disk.readStream(...args)),
    readAll: (...args) => read(() => disk.readAll(...args)),
    loadSnapshot: (...args) => read(() => disk.loadSnapshot(...args)),
    streamVersion: (...args) => read(() => disk.streamVersion(...args)),
    onCommitted(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    follow: () => () => undefined,
    onPoisoned(listener) {
      poisonListeners.add(listener);
      return () => poisonListeners.delete(listener);
    },
    payloads: {
      ...payloads,
      checkpoint: (...args) => read(() => payloads.checkpoint(...args)),
      outline: (...args) => read(() => payloads.outline(...args)),
      values: (...args) => read(() => payloads.values(...args)),
      frames: (...args) => read(() => payloads.frames(...args)),
      lastFrame: (...args) => read(() => payloads.lastFrame(...args)),
      secret: (...args) => read(() => payloads.secret(...args)),
      body: (...args) => read(() => payloads.body(...args)),
    },
    views: asked,
    nodes: options.nodes(asked),
    async close() {
      if (writing) await new Promise<void>((resolve) => drained.push(resolve));
      if (life === 'alive') life = 'closed';
    },
    die(zombie) {
      life = zombie ? 'zombie' : 'dead';
      // What was on its way from an executor that does not know yet.
      for (const { batch, resolve, reject } of zombie ? queue : [])
        if (batch.lease !== undefined) writeLate(batch).then(resolve, reject);
      queue = [];
      drained = [];
      listeners.clear();
      poisonListeners.clear();
    },
    get poisoned() {
      return poisoned;
    },
    get listeners() {
      return listeners.size + poisonListeners.size;
    },
  };
}

/** One of its own for each who waits: what waits for a promise is kept as long as that promise is. */
const never = (): Promise<never> => new Promise(() => undefined);

type Settlement = { readonly result: CommitResult } | { readonly error: unknown };

/** What was written, for the trace. */
function describe({ appends, payloads = [], lease }: Batch, settlement: Settlement): string {
  const facts = appends.flatMap(({ events }) => events.map(({ type, data }) => `${type} ${nameOf(data)}`));
  const kinds = [...new Set(payloads.map(({ kind }) => kind))];
  const by = lease === undefined ? '' : ` by attempt ${lease.attempt} of ${lease.runId}`;
  const end = 'result' in settlement ? settlement.result.kind : `threw ${String(settlement.error)}`;
  return `${[...facts, ...kinds].join(', ')}${by} -> ${end}`;
}

const nameOf = (data: object): string =>
  'runId' in data ? String(data.runId) : 'threadId' in data ? String(data.threadId) : '';
