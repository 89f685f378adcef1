/**
 * Nodes of a database tell each other of their commits, on a connection of its own (LISTEN, NOTIFY), which is made again whenever
 * it is lost. A hint that is told meanwhile is lost: each node looks by itself, too (`follower.ts`). Each hint reaches every node, so
 * the more nodes there are the fewer hints each tells; more than `MAX_TELLING` only look.
 */
import { systemClock } from '../../kernel/clock.ts';
import type { Elsewhere, EventLog, Notice } from '../port/log.ts';
import { createFollower, type FollowerOptions } from '../sql/follower.ts';
import { createHintBuffer, readHint, type Hint } from '../sql/hints.ts';
import type { Session } from './sessions.ts';

export interface WakeUps {
  readonly follow: EventLog['follow'];
  /** Tells the others what this node committed. Returns what they seem to have done before it. */
  tell(notice: Notice): Elsewhere | undefined;
  close(): Promise<void>;
}

/** Hints of so many milliseconds are one. */
const MIN_HINT_INTERVAL_MS = 10;
/** The database delivers no more than so many hints a second, over all pairs of nodes. */
const MAX_HINTS_PER_SECOND = 10_000;
/** Hints of more nodes would come later than their looks. */
const MAX_TELLING = 50;
const RECONNECT_MS = 1_000;

/** Schemas of one database are different deployments. */
const CHANNEL = "'rewound_' || md5(current_schema())";
/** A hint need not survive a crash, so its commit does not wait for the disk. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, @text)`;

const ANYTHING: Hint = { mayStart: false, changed: undefined };

/** `connect`: to the database itself. `nodes`: how many live. */
export function openWakeUps(
  connect: () => Promise<Session>,
  nodes: () => number,
  options: FollowerOptions,
): WakeUps {
  const { after, monotonic } = systemClock();
  const { follow, note, hear, close } = createFollower(options);
  const buffer = createHintBuffer();
  let session: Session | undefined;
  let isClosed = false;
  let isSending = false;
  let sentAt = -Infinity;
  let cancel: () => void = () => undefined;

  async function listen(): Promise<void> {
    try {
      const own = (session = await connect());
      own.onLost(() => session === own && listenLater());
      if (isClosed) return await own.end();
      own.onNotification((text) => {
        const hint = readHint(text);
        if (hint !== undefined) hear(hint);
      });
      const [row] = await own.ask<{ channel: string }>(`SELECT ${CHANNEL} AS channel`);
      await own.ask(`LISTEN ${row!.channel}`);
      // What the others told before is lost.
      hear(ANYTHING);
    } catch {
      await session?.end();
      listenLater();
    }
  }

  function listenLater(): void {
    cancel();
    if (!isClosed) cancel = after(RECONNECT_MS, () => void listen());
  }

  async function send(): Promise<void> {
    while (!buffer.isEmpty && !isClosed) {
      const interval = Math.max(MIN_HINT_INTERVAL_MS, (nodes() ** 2 * 1_000) / MAX_HINTS_PER_SECOND);
      const rest = sentAt + interval - monotonic();
      if (rest > 0) await new Promise<void>((resolve) => void after(rest, resolve));
      sentAt = monotonic();
      const text = buffer.take();
      if (session?.isLost === false) await session.ask(NOTIFY, { text }).catch(() => undefined);
    }
  }

  void listen();
  return {
    follow,
    tell(notice) {
      if (nodes() > 1 && nodes() <= MAX_TELLING) buffer.add(notice);
      if (!isSending && !buffer.isEmpty) {
        isSending = true;
        void send().finally(() => (isSending = false));
      }
      return note(notice);
    },
    async close() {
      isClosed = true;
      close();
      cancel();
      await session?.end();
    },
  };
}
