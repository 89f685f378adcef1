/** Sends a run's writes to the server. Each run has its own credit, so a slow reader of one run delays no other run. */
import type { CheckpointReader, CheckpointStore, LoadedCheckpoint, RunLink } from '../graphs/port.ts';
import { openGate } from '../kernel/gate.ts';
import type { Connection } from '../workers/connection.ts';
import { MAX_CALLS, TYPE, WINDOW } from '../workers/messages.ts';
import { collectBlobs, packCheckpoint, packWrites, unpackLoaded, type Blobs } from '../workers/packing.ts';

export interface StreamLink extends RunLink {
  /** Holds writes back until `release`, `take` or a call, or until they are many. */
  hold(): void;
  /** Sends the writes that are held. */
  release(): void;
  /** Returns the writes that are held, for the message of the run's end. */
  take(): readonly Write[];
  /** Returns credit: the server has processed writes of this size, in characters and messages. */
  credit(bytes: number, messages: number): void;
  /** Makes pending and later writes reject with `error`, because the server refused a write. */
  refuse(error: Error): void;
}

/** A message without a reply. */
interface Write {
  readonly type: number;
  readonly head: object;
  readonly blobs: readonly string[];
}

export interface StreamLinkOptions {
  readonly connection: Connection;
  readonly stream: number;
  /** True: `save` and `saveWrites` resolve when the server has committed them. */
  readonly isSync: boolean;
  /** Root checkpoint that came with the run order; saves the first read. */
  readonly head?: { readonly checkpoint: LoadedCheckpoint | undefined };
}

/** A checkpoint reader for one run or graph query; it calls the server over `stream`. */
export function readerOf(connection: Pick<Connection, 'call'>, stream: number): CheckpointReader {
  const calls = openGate(MAX_CALLS);
  const call = (head: object) => calls.enter(() => connection.call(stream, head));
  return {
    async load(ns, id, choice) {
      const query = { ns, ...(id !== undefined && { id }), ...(choice && { choice }) };
      const { head, blobs } = await call({ m: 'cp.get', ...query });
      return unpackLoaded(head.found, blobs);
    },
    async list(query) {
      const { head, blobs } = await call({ m: 'cp.list', query });
      return head.found.map((each: object) => unpackLoaded(each, blobs));
    },
  };
}

export function openRunLink({ connection, stream, isSync, head }: StreamLinkOptions): StreamLink {
  /** The server answers a call behind the writes before it. */
  const call: Connection['call'] = (...of) => {
    link.release();
    return connection.call(...of);
  };
  const reader = readerOf({ call }, stream);
  const calls = openGate(MAX_CALLS);
  let known = head;
  let used = { bytes: 0, messages: 0 };
  let refused: Error | undefined;
  let waiting: (() => void)[] = [];
  let held: Write[] | undefined;
  let heldSize = 0;

  const hasCredit = (): boolean => used.bytes < WINDOW.bytes && used.messages < WINDOW.messages;
  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const resume of woken) resume();
  }

  /** Sends before it waits for credit, so that messages keep the order of the calls. */
  async function sendOnCredit(type: number, head: object, blobs: readonly string[]): Promise<void> {
    if (refused !== undefined) throw refused;
    if (held !== undefined) {
      held.push({ type, head, blobs });
      heldSize += sizeOf(blobs);
      if (heldSize < MAX_HELD.bytes && held.length < MAX_HELD.messages) return;
      link.release();
    } else send({ type, head, blobs });
    while (!hasCredit() && refused === undefined) await new Promise<void>((resolve) => waiting.push(resolve));
    if (refused !== undefined) throw refused;
  }

  function send({ type, head, blobs }: Write): void {
    connection.send(type, stream, head, blobs);
    used = { bytes: used.bytes + sizeOf(blobs), messages: used.messages + 1 };
  }

  async function save(m: string, pack: (blobs: Blobs) => object): Promise<void> {
    known = undefined;
    const blobs = collectBlobs();
    const head = { m, ...pack(blobs) };
    if (isSync) {
      if (refused !== undefined) throw refused;
      await call(stream, head, blobs.list);
    } else await sendOnCredit(TYPE.post, head, blobs.list);
  }

  function sendPart(head: object, part: Uint8Array): Promise<void> {
    const data = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('base64');
    return sendOnCredit(TYPE.post, head, [data]);
  }

  const checkpoints: CheckpointStore = {
    ...reader,
    load(ns, id) {
      const found = ns === '' && id === undefined ? known : undefined;
      // Used once: the caller may mutate the checkpoint, and later reads need what was saved since.
      if (found !== undefined) known = undefined;
      return found === undefined ? reader.load(ns, id) : Promise.resolve(found.checkpoint);
    },
    save: (checkpoint) => save('cp.put', (blobs) => ({ checkpoint: packCheckpoint(checkpoint, blobs) })),
    saveWrites: (ns, id, writes) =>
      save('cp.put_writes', (blobs) => ({ ns, id, writes: packWrites(writes, blobs) })),
  };
  const link: StreamLink = {
    checkpoints,
    store: {
      batch: (ops) =>
        calls.enter(async () => {
          const { head } = await call(stream, { m: 'store.batch', ops });
          return head.results;
        }),
    },
    // The server awaits its own `begun` before it sends `go`.
    begun: async () => undefined,
    emit(frames) {
      const data = frames.map((frame) => frame.data);
      return sendOnCredit(TYPE.chunk, { events: frames.map(({ event }) => event) }, data);
    },
    record: (part) => sendPart({ m: 'record' }, part),
    keep: (part, base, isAnswer) => sendPart({ m: 'keep', base, isAnswer }, part),
    note: (records) => sendOnCredit(TYPE.post, { m: 'note' }, [records]),
    hold() {
      held ??= isSync ? undefined : [];
    },
    release() {
      link.take().forEach(send);
    },
    take() {
      const taken = held ?? [];
      held = undefined;
      return taken;
    },
    credit(bytes, messages) {
      used = { bytes: used.bytes - bytes, messages: used.messages - messages };
      wake();
    },
    refuse(error) {
      refused ??= error;
      wake();
    },
  };
  return link;
}

/** The server handles what is held at once. */
const MAX_HELD = { bytes: WINDOW.bytes / 2, messages: WINDOW.messages / 2 };

/** Size in UTF-16 code units, as the server counts it too. */
const sizeOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
