/**
 * The numbers of ids, and the texts that the next ones will differ from, as the one writer last saw them: most commits
 * speak of threads and runs that the last ones spoke of. Bounded; what is forgotten is looked up again.
 *
 * Danger: what was seen within a transaction that is undone, or before rows went, is wrong. Then all is forgotten.
 */
import { findName, findThread, toName } from './checkpoint-tables.ts';
import { toBase, type Base } from './token-difference.ts';
import type { Prepare } from '../statements.ts';

const MAX_NAMES = 5000;
const MAX_BASES = 200;
/** Of all texts of values together, in characters. */
const MAX_TEXT = 4_000_000;
/** How many checkpoints the writes are remembered of, and how many writes of all of them. */
const MAX_WRITTEN = 500;
const MAX_WRITES = 300_000;

/** The value of a channel that comes last by its version. */
export interface LatestValue {
  readonly id: number;
  readonly version: string;
  readonly anchor: string | null;
  readonly text: string;
  /** Of reading it: channel-store.ts. */
  readonly cost: number;
}

export interface CheckpointKeys {
  /** The number of a thread, given when there is none. */
  thread(threadId: string): number;
  /** The number of an id within its thread, given when there is none. */
  name(thread: number, id: string): number;
  /** The text of a row that others differ from. */
  base(row: number, load: () => string): Base;
  latest(thread: number, ns: string, channel: string): LatestValue | undefined;
  setLatest(thread: number, ns: string, channel: string, value: LatestValue): void;
  /** Rows of the writes on a checkpoint, by what names one; whoever adds or takes one tells. */
  writes(checkpoint: number, ns: string, load: () => Map<string, number>): Map<string, number>;
  forget(): void;
}

/** No two places have the same. */
const placeOf = (thread: number, ns: string, channel: string): string =>
  `${thread} ${ns.length} ${ns} ${channel}`;

export function createCheckpointKeys(prepare: Prepare): CheckpointKeys {
  const threads = new Map<string, number>();
  const names = new Map<string, number>();
  const bases = new Map<number, Base>();
  const values = new Map<string, LatestValue>();
  const written = new Map<string, Map<string, number>>();
  let size = 0;
  const remember = <K, V>(known: Map<K, V>, most: number, key: K, value: V): V => {
    if (known.size >= most) known.clear();
    known.set(key, value);
    return value;
  };
  /** Tried before it is looked for: most of what nobody remembers is new. */
  const insert = (sql: string, ...params: unknown[]): number | undefined => {
    const { changes, lastInsertRowid } = prepare(sql).run(...params);
    return changes === 0 ? undefined : Number(lastInsertRowid);
  };

  return {
    thread(threadId) {
      return (
        threads.get(threadId) ??
        remember(
          threads,
          MAX_NAMES,
          threadId,
          insert('INSERT INTO checkpoint_threads (thread_id) VALUES (?) ON CONFLICT DO NOTHING', threadId) ??
            findThread(prepare, threadId)!,
        )
      );
    },
    name(thread, id) {
      const key = `${thread} ${id}`;
      return (
        names.get(key) ??
        remember(
          names,
          MAX_NAMES,
          key,
          insert(
            'INSERT INTO checkpoint_names (thread, name) VALUES (?, ?) ON CONFLICT DO NOTHING',
            thread,
            toName(id),
          ) ?? findName(prepare, thread, id)!,
        )
      );
    },
    base: (row, load) => bases.get(row) ?? remember(bases, MAX_BASES, row, toBase(load())),
    latest: (thread, ns, channel) => values.get(placeOf(thread, ns, channel)),
    setLatest(thread, ns, channel, value) {
      const key = placeOf(thread, ns, channel);
      size += value.text.length - (values.get(key)?.text.length ?? 0);
      if (size > MAX_TEXT) {
        values.clear();
        size = value.text.length;
      }
      if (size <= MAX_TEXT) values.set(key, value);
      else size = 0;
    },
    writes(checkpoint, ns, load) {
      const key = `${checkpoint} ${ns}`;
      const known = written.get(key);
      if (known !== undefined) return known;
      let count = 0;
      for (const rows of written.values()) count += rows.size;
      if (count >= MAX_WRITES) written.clear();
      return remember(written, MAX_WRITTEN, key, load());
    },
    forget() {
      written.clear();
      values.clear();
      size = 0;
      threads.clear();
      names.clear();
      bases.clear();
    },
  };
}
