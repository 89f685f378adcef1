/**
 * Nodes of a database tell each other of their commits, on a connection of its own (LISTEN, NOTIFY), which is made again whenever
 * it is lost. A hint that is told meanwhile is lost: each node looks by itself, too (`follower.ts`). A node that has heard no other
 * one for a minute tells nothing.
 */
import { systemClock } from '../../kernel/clock.ts';
import type { Elsewhere, EventLog, Notice } from '../port/log.ts';
import type { Address } from './address.ts';
import { createFollower, type FollowerOptions } from '../sql/follower.ts';
import { createHintBuffer, readHint, type Hint } from '../sql/hints.ts';
import { connect, type Session } from './sessions.ts';

export interface WakeUps {
  readonly follow: EventLog['follow'];
  /** Tells the others what this node committed. Returns what they seem to have done before it. */
  tell(notice: Notice): Elsewhere | undefined;
  close(): Promise<void>;
}

/** Hints of so many milliseconds are one. */
const HINT_INTERVAL_MS = 10;
const RECONNECT_MS = 1_000;
/** A node that is silent for longer is gone. */
const PRESENT_MS = 60_000;
const PRESENCE_INTERVAL_MS = 20_000;
/** A node that begins to listen says `HELLO`; each node says `HERE` in answer and from time to time. */
const HELLO = 'hello';
const HERE = 'here';

/** Schemas of one database are different deployments. */
const CHANNEL = "'rewound_' || md5(current_schema())";
/** A hint need not survive a crash, so its commit does not wait for the disk. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, @text)`;

const ANYTHING: Hint = { mayStart: false, changed: undefined };

export function openWakeUps(address: Address, options: FollowerOptions): WakeUps {
  const { after, monotonic } = systemClock();
  const { follow, note, hear, close } = createFollower(options);
  const buffer = createHintBuffer();
  let session: Session | undefined;
  let isClosed = false;
  let isSending = false;
  let sentAt = -Infinity;
  let heardAt = -Infinity;
  let cancel: () => void = () => undefined;
  let said: Promise<unknown> = Promise.resolve();
  let cancelPresence = after(PRESENCE_INTERVAL_MS, sayHere);

  function sayHere(): void {
    cancelPresence = after(PRESENCE_INTERVAL_MS, sayHere);
    void say(HERE);
  }

  /** One after the other: the connection has one statement at a time. */
  function say(text: string): Promise<unknown> {
    return (said = said
      .then(() => (session?.isLost === false ? session.ask(NOTIFY, { text }) : []))
      .catch(() => undefined));
  }

  async function listen(): Promise<void> {
    try {
      const own = (session = await connect(address));
      own.onLost(() => session === own && listenLater());
      if (isClosed) return await own.end();
      own.onNotification((text) => {
        heardAt = monotonic();
        if (text === HELLO) void say(HERE);
        const hint = readHint(text);
        if (hint !== undefined) hear(hint);
      });
      const [row] = await own.ask<{ channel: string }>(`SELECT ${CHANNEL} AS channel`);
      await own.ask(`LISTEN ${row!.channel}`);
      // What the others told before is lost.
      hear(ANYTHING);
      await say(HELLO);
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
      const rest = sentAt + HINT_INTERVAL_MS - monotonic();
      if (rest > 0) await new Promise<void>((resolve) => void after(rest, resolve));
      sentAt = monotonic();
      await say(buffer.take());
    }
  }

  void listen();
  return {
    follow,
    tell(notice) {
      if (monotonic() - heardAt < PRESENT_MS) buffer.add(notice);
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
      cancelPresence();
      await session?.end();
    },
  };
}
