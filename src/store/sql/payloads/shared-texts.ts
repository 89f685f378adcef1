/**
 * Writes texts beside other writers of the same rows. A transaction waits for no answer: it takes for granted that what the
 * writer holds is stored as it was, and that what it writes is not there yet. The statements themselves look, and when one
 * finds otherwise the transaction is undone and sent again, which forgets all and asks. An only writer knows.
 *
 * L3 Rows that a new one differs from stay until the commit: what erases them locks them, and the thread, before it looks for
 * what differs from them. So it either finds the new row or is found.
 */
import { Outdated } from '../refused.ts';
import { count, newIds, some, write, type Step, type Work, type WorkContext } from '../work.ts';
import { createHeldTexts, type HeldTexts } from './held-texts.ts';
import type { StoredId } from './stored-ids.ts';
import type { BaseText, NewText, TextTable } from './text-rows.ts';

export interface PayloadStore {
  readonly context: WorkContext;
  readonly held: HeldTexts;
  /** Rows of the batch that stay as they are until the commit. */
  readonly kept: Set<string>;
  /** Whether the batch waits for answers. */
  asks: boolean;
  endBatch(): void;
  /** What was written is undone, all of it or in part. */
  undone(): void;
}

export function createStore(context: WorkContext, held = createHeldTexts()): PayloadStore {
  const store: PayloadStore = {
    ...{ context, held, kept: new Set<string>(), asks: true },
    endBatch() {
      store.kept.clear();
      store.asks = isAlone(context);
    },
    undone() {
      held.forget();
      store.kept.clear();
      store.asks = true;
    },
  };
  return store;
}

/** Without locks transactions come one after the other. */
const isAlone = ({ lockRows }: WorkContext): boolean => lockRows === '';

const outdated = (): Outdated => new Outdated();
export const keyOf = (table: TextTable, id: number): string => `${table} ${id}`;

/** Checks a row once in a batch. */
function* check(store: PayloadStore, table: TextTable, id: number, step: (row: string) => Step): Work<void> {
  const row = keyOf(table, id);
  if (isAlone(store.context) || store.kept.has(row)) return;
  store.kept.add(row);
  yield step(row);
}

/** Checks that the rows are as they were. A row of `texts` needs no lock of its own: the lock of its thread's row keeps it. */
export function* keepBases(
  store: PayloadStore,
  table: TextTable,
  bases: readonly BaseText[],
  thread?: number,
): Work<void> {
  const lock = thread === undefined ? store.context.lockRows : '';
  const behind = thread === undefined ? [] : [keyOf(table, thread)];
  for (const { id, crc } of bases)
    yield* check(store, table, id, (row) =>
      some(`SELECT 1 FROM ${table} WHERE id = ? AND crc = ? ${lock}`, [id, crc], outdated, [row, ...behind]),
    );
}

/** The thread is there, and nothing erases texts of it before the commit. */
export const keepThread = (store: PayloadStore, thread: number): Work<void> =>
  check(store, 'texts', thread, (row) =>
    some(`SELECT 1 FROM texts WHERE id = ? ${store.context.lockRows}`, [thread], outdated, [row]),
  );

/** `takeRows`: nothing else writes or erases texts of the thread before the commit; `lockRows`: nothing erases any. */
export function* lockThread(
  { context }: PayloadStore,
  thread: number,
  lock: 'lockRows' | 'takeRows',
): Work<void> {
  if (!isAlone(context)) yield write(`SELECT 1 FROM texts WHERE id = ? ${context[lock]}`, [thread]);
}

const INSERT = `INSERT INTO texts
  (id, thread, kind, ns, name, version, run, parent, at, last_frame, parts, bases, size, data, crc)
  VALUES (@id, @thread, @kind, @ns, @name, @version, @run, @parent, @at, @last_frame, @parts, @bases, @size, @data, @crc)
  ON CONFLICT DO NOTHING`;

export interface TextPlace {
  readonly thread: number;
  readonly kind: 't' | 'c' | 'v' | 'w';
  readonly ns: string;
  readonly name: StoredId;
  /** No two rows have the same one but those with null. */
  readonly version: string | null;
  readonly run?: StoredId | null;
  readonly parent?: StoredId | null;
  readonly at?: number;
  readonly last_frame?: number | null;
  readonly parts?: string;
}

const NOTHING = { run: null, parent: null, at: null, last_frame: null, parts: null };

/** The new row's id. Undefined: the row is there. `isNew`: that is taken for granted. */
export function* insertRow(
  store: PayloadStore,
  place: TextPlace,
  columns: Pick<NewText, 'bases' | 'size' | 'data' | 'crc'>,
  isNew = !store.asks,
): Work<number | undefined> {
  const id: number = yield newIds('texts');
  const row = keyOf('texts', id);
  const params = { id, ...NOTHING, ...place, ...columns };
  if (isNew) yield some(INSERT, params, outdated, [row]);
  else {
    const changes: number = yield count(INSERT, params);
    if (changes === 0) return undefined;
  }
  store.kept.add(row);
  return id;
}

/** Undefined: the row is there. */
export function* insertText(
  store: PayloadStore,
  place: TextPlace,
  text: string,
  { cost, used, ...columns }: NewText,
): Work<BaseText | undefined> {
  yield* keepBases(store, 'texts', used, place.thread);
  const id = yield* insertRow(store, place, columns);
  return id === undefined ? undefined : { id, text, cost, crc: columns.crc };
}
