/** Hints: a node's commits as the others hear of them. A hint may be lost, and may come twice. */
import { THREAD_EVENTS } from '../../thread/events.ts';
import type { DomainEvent } from '../port/events.ts';
import type { Notice } from '../port/log.ts';

export interface Hint {
  /** A run may start that the node did not start. */
  readonly mayStart: boolean;
  /** Undefined: any thread and run may have changed. */
  readonly changed:
    | {
        /** Versions of threads in which more happened than saved checkpoints. */
        readonly threads: ReadonlyMap<string, number>;
        /** Ids of the last frames of runs. */
        readonly runs: ReadonlyMap<string, number>;
      }
    | undefined;
}

export interface HintBuffer {
  add(notice: Notice): void;
  readonly isEmpty: boolean;
  /** The hint of all that was added since the last call, as text. */
  take(): string;
}

/** An engine's notification takes fewer than 8,000 bytes (PostgreSQL). */
const MAX_HINT_BYTES = 7_900;

/** Most events of a run are saved checkpoints, and nothing waits for them. */
export const UNTOLD: DomainEvent['type'] = 'CheckpointSaved';

type Entries = readonly (readonly [string, number])[];
interface Payload {
  readonly mayStart: boolean;
  readonly threads?: Entries;
  readonly runs?: Entries;
}

export function createHintBuffer(): HintBuffer {
  const threads = new Map<string, number>();
  const runs = new Map<string, number>();
  let mayStart = false;
  return {
    add({ events, frames }) {
      const started = new Set(
        events.flatMap(({ type, data }) => (type === 'RunStarted' ? [data.runId] : [])),
      );
      for (const event of events) {
        if (isThreadEvent(event) && event.type !== UNTOLD)
          threads.set(event.data.threadId, event.meta.version);
        mayStart ||= isStartable(event, started);
      }
      for (const [runId, own] of frames) runs.set(runId, own.at(-1)!.id);
    },
    get isEmpty() {
      return threads.size + runs.size === 0 && !mayStart;
    },
    take() {
      const short: Payload = { mayStart };
      const text = JSON.stringify({ ...short, threads: [...threads], runs: [...runs] } satisfies Payload);
      for (const told of [threads, runs]) told.clear();
      mayStart = false;
      return Buffer.byteLength(text) <= MAX_HINT_BYTES ? text : JSON.stringify(short);
    },
  };
}

/** Undefined for what no node wrote. */
export function readHint(text: string): Hint | undefined {
  try {
    const { mayStart, threads, runs } = JSON.parse(text) as Payload;
    const changed = threads && runs && { threads: new Map(threads), runs: new Map(runs) };
    return { mayStart, changed };
  } catch {
    return undefined;
  }
}

type Told = Notice['events'][number];
type ThreadFact = Extract<Told, { readonly type: keyof typeof THREAD_EVENTS }>;

export const isThreadEvent = (event: Told): event is ThreadFact => event.type in THREAD_EVENTS;

function isStartable({ type, data }: Told, started: ReadonlySet<string>): boolean {
  if (type === 'RunCreated') return !started.has(data.runId);
  return type === 'RunRequeued' || (type === 'RunCompleted' && data.remaining > 0);
}
