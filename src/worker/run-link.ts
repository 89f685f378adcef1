/**
 * What a run saves and emits, on its way to the server. A write costs credit and waits for room, so a run that the server
 * cannot keep up with waits alone: its neighbours have credit of their own.
 */
import type { CheckpointReader, CheckpointStore, LoadedCheckpoint, RunLink } from '../graphs/port.ts';
import { openGate } from '../kernel/gate.ts';
import type { Connection } from '../workers/connection.ts';
import { MAX_CALLS, TYPE, WINDOW } from '../workers/messages.ts';
import { collectBlobs, packCheckpoint, packWrites, unpackLoaded, type Blobs } from '../workers/packing.ts';

export interface StreamLink extends RunLink {
  /** The server has taken so much. */
  credit(bytes: number, messages: number): void;
  /** The server refused a write: this and every later one rejects. */
  refuse(error: Error): void;
}

export interface StreamLinkOptions {
  readonly connection: Connection;
  readonly stream: number;
  /** Every save waits until it is durable. */
  readonly isSync: boolean;
  /** The root checkpoint that came with the order, which spares the first read. */
  readonly head?: { readonly checkpoint: LoadedCheckpoint | undefined };
}

/** Reads of checkpoints for a run or a question. */
export function readerOf(connection: Connection, stream: number): CheckpointReader {
  const calls = openGate(MAX_CALLS);
  const call = (head: object) => calls.enter(() => connection.call(stream, head));
  return {
    async load(ns, id, choice) {
      const asked = { m: 'cp.get', ns, ...(id !== undefined && { id }), ...(choice && { choice }) };
      const { head, blobs } = await call(asked);
      return unpackLoaded(head.found, blobs);
    },
    async list(query) {
      const { head, blobs } = await call({ m: 'cp.list', query });
      return head.found.map((each: object) => unpackLoaded(each, blobs));
    },
  };
}

export function openRunLink({ connection, stream, isSync, head }: StreamLinkOptions): StreamLink {
  const reader = readerOf(connection, stream);
  const calls = openGate(MAX_CALLS);
  let known = head;
  let used = { bytes: 0, messages: 0 };
  let refused: Error | undefined;
  let waiting: (() => void)[] = [];

  const isRoom = (): boolean => used.bytes < WINDOW.bytes && used.messages < WINDOW.messages;
  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const resume of woken) resume();
  }

  /** Sends first and waits then, so that messages keep the order of the calls. */
  async function pay(bytes: number, send: () => void): Promise<void> {
    if (refused !== undefined) throw refused;
    send();
    used = { bytes: used.bytes + bytes, messages: used.messages + 1 };
    while (!isRoom() && refused === undefined) await new Promise<void>((resolve) => waiting.push(resolve));
    if (refused !== undefined) throw refused;
  }

  async function save(m: string, pack: (blobs: Blobs) => object): Promise<void> {
    known = undefined;
    const blobs = collectBlobs();
    const head = { m, ...pack(blobs) };
    if (isSync) {
      if (refused !== undefined) throw refused;
      await connection.call(stream, head, blobs.list);
    } else await pay(sizeOf(blobs.list), () => connection.send(TYPE.post, stream, head, blobs.list));
  }

  const checkpoints: CheckpointStore = {
    ...reader,
    load(ns, id) {
      const found = ns === '' && id === undefined ? known : undefined;
      // Once: the next read is of what was saved since, and the caller may change what it was given.
      if (found !== undefined) known = undefined;
      return found === undefined ? reader.load(ns, id) : Promise.resolve(found.checkpoint);
    },
    save: (checkpoint) => save('cp.put', (blobs) => ({ checkpoint: packCheckpoint(checkpoint, blobs) })),
    saveWrites: (ns, id, writes) =>
      save('cp.put_writes', (blobs) => ({ ns, id, writes: packWrites(writes, blobs) })),
  };
  return {
    checkpoints,
    store: {
      batch: (ops) =>
        calls.enter(async () => {
          const { head } = await connection.call(stream, { m: 'store.batch', ops });
          return head.results;
        }),
    },
    // The server has let the attempt begin before its graph code is called.
    begun: async () => undefined,
    emit(frames) {
      const data = frames.map((frame) => frame.data);
      return pay(sizeOf(data), () =>
        connection.send(TYPE.chunk, stream, { events: frames.map(({ event }) => event) }, data),
      );
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
}

/** In characters, which both ends count alike. */
const sizeOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
