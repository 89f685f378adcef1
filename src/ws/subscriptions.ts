/**
 * Subscriptions of one WebSocket, served by one reader of the thread.
 *
 * S2 All subscriptions get events in the order of the thread. A new one first gets the events up to the shared cursor:
 * otherwise events of a run could arrive after its end. S3 One page is held at a time.
 */
import { breathe } from '../kernel/breathe.ts';
import { CommandProblem, toSuccess } from '../protocol/command.ts';
import { toEventText, type ThreadEvent } from '../protocol/event.ts';
import { select, type Subscription } from '../protocol/filter.ts';
import { toSeq, type NamedEvent, type StreamCursor } from '../protocol/stream-cursor.ts';
import type { ThreadEvents, ThreadReader } from '../streams/thread-events.ts';
import type { Outlet } from './outlet.ts';

export interface Subscriptions {
  /** Sends the command's reply, then past events, then new ones. The thread need not exist yet. Throws above the limit. */
  add(commandId: number, wanted: Subscription, after: StreamCursor | NamedEvent | undefined): void;
  /** False when there is no such subscription. */
  remove(id: string): boolean;
  has(id: string): boolean;
  /** Resolves after the signal has aborted and sending has stopped. */
  readonly done: Promise<void>;
}

export interface SubscriptionsOptions {
  readonly threadId: string;
  readonly events: ThreadEvents;
  readonly outlet: Outlet;
  readonly visible: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

interface Active {
  readonly wanted: Subscription;
  /** Only events with a higher sequence number are sent. */
  readonly after: number;
}

const MAX_SUBSCRIPTIONS = 100;

export function openSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { threadId, events, outlet, visible, signal } = options;
  const active = new Map<string, Active>();
  const queued: { commandId: number; wanted: Subscription; after: StreamCursor | NamedEvent | undefined }[] =
    [];
  let live: ThreadReader | undefined;
  /** Sequence number of the last event that all active subscriptions have got. */
  let cursor = -1;
  let count = 0;
  /** 1 while `admit` handles a subscription, which is then neither in `queued` nor in `active`. */
  let admitting = 0;
  let wake: () => void = () => undefined;

  const textOf = (event: ThreadEvent) => events.textOf(threadId, 'socket', event, toEventText);

  const until = (other: Promise<void>[]): Promise<void> => {
    const woken = new Promise<void>((resolve) => (wake = resolve));
    return queued.length > 0 ? Promise.resolve() : Promise.race([woken, ...other]);
  };

  /** Calls `use` for matching events after `after`, up to `last` or to the current end. */
  async function replay(
    { wanted }: Active,
    after: StreamCursor,
    last: number,
    use: (event: ThreadEvent) => Promise<void> | void,
  ): Promise<void> {
    const reader = events.read(threadId, { after, visible });
    try {
      while (!signal.aborted) {
        const page = await reader.poll();
        if (page === undefined) return;
        for (const event of page) {
          if (event.seq > last) return;
          const selected = select(wanted, event);
          if (selected !== undefined) await use(selected);
        }
        await breathe();
      }
    } finally {
      reader.close();
    }
  }

  async function admit({ commandId, wanted, after }: (typeof queued)[number]): Promise<void> {
    const place = await events.resume(threadId, after);
    const each = { wanted, after: toSeq(place) };
    const isFirst = live === undefined;
    // The shared reader starts at the run's beginning: other subscriptions may want events before `place`.
    const begin = { ordinal: place.ordinal, index: -1 };
    if (isFirst) cursor = toSeq(begin);
    live ??= events.read(threadId, { after: begin, visible });
    let replayed = 0;
    await replay(each, place, isFirst ? Infinity : cursor, () => void (replayed += 1));
    count += 1;
    const id = `subscription-${count}`;
    const result = { subscription_id: id, replayed_events: replayed };
    await outlet.reply(toSuccess(commandId, result, threadId, Math.max(0, each.after)));
    active.set(id, each);
    admitting = 0;
    if (!isFirst)
      await replay(each, place, cursor, (event) => (active.has(id) ? outlet.send(textOf(event)) : undefined));
  }

  /**
   * The forms of the event that active subscriptions get, each once: the client dispatches it to all matching
   * subscriptions. The form with the longer namespace comes first, because both match a subscription that wants it.
   */
  function formsOf(event: ThreadEvent): ThreadEvent[] {
    const forms = new Map<number, ThreadEvent>();
    for (const { wanted, after } of active.values()) {
      const form = event.seq > after ? select(wanted, event) : undefined;
      if (form !== undefined) forms.set(form.namespace.length, form);
    }
    return [...forms.values()].sort((a, b) => b.namespace.length - a.namespace.length);
  }

  async function serve(reader: ThreadReader): Promise<void> {
    const page = await reader.poll();
    if (page === undefined) return until([reader.wait(signal)]);
    for (const event of page) {
      cursor = event.seq;
      for (const form of formsOf(event)) await outlet.send(textOf(form));
    }
    await breathe();
  }

  async function run(): Promise<void> {
    const stopped = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    try {
      while (!signal.aborted) {
        const next = queued.shift();
        if (next !== undefined) {
          admitting = 1;
          await admit(next).finally(() => (admitting = 0));
        } else if (live === undefined || active.size === 0) await until([stopped]);
        else await serve(live);
      }
    } finally {
      live?.close();
    }
  }

  const done = run();
  return {
    add(commandId, wanted, after) {
      if (active.size + admitting + queued.length >= MAX_SUBSCRIPTIONS)
        throw new CommandProblem(
          'invalid_argument',
          `A socket can hold at most ${MAX_SUBSCRIPTIONS} subscriptions.`,
        );
      queued.push({ commandId, wanted, after });
      wake();
    },
    remove: (id) => active.delete(id),
    has: (id) => active.has(id),
    done,
  };
}
