/**
 * Writes texts beside other writers of the same rows. A transaction waits for no answer: it takes for granted that what the
 * writer holds is stored as it was, and that what it writes is not there yet. The statements themselves look, and when one
 * finds otherwise the transaction is undone and sent again, which forgets all and asks. An only writer knows.
 *
 * L3 Rows that a new one differs from stay until the commit: what erases them locks them, and the thread, before it looks for
 * what differs from them. So it either finds the new row or is found.
 */
import { Outdated } from '../refused.ts';
import { count, newIds, some, write, type StepParams, type Work, type WorkContext } from '../work.ts';
import { createHeldTexts, type HeldTexts } from './held-texts.ts';
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
      held.newThreads.clear();
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
const keyOf = (table: TextTable, id: number): string => `${table} ${id}`;

function* keepRow(store: PayloadStore, table: TextTable, id: number, crc?: number): Work<void> {
  const { context, kept } = store;
  if (isAlone(context) || kept.has(keyOf(table, id))) return;
  kept.add(keyOf(table, id));
  yield crc === undefined
    ? some(`SELECT 1 FROM ${table} WHERE id = ? ${context.lockRows}`, [id], outdated)
    : some(`SELECT 1 FROM ${table} WHERE id = ? AND crc = ? ${context.lockRows}`, [id, crc], outdated);
}

export function* keepBases(store: PayloadStore, table: TextTable, bases: readonly BaseText[]): Work<void> {
  for (const { id, crc } of bases) yield* keepRow(store, table, id, crc);
}

/** The thread is there, and nothing erases texts of it before the commit. */
export const keepThread = (store: PayloadStore, thread: number): Work<void> =>
  keepRow(store, 'texts', thread);

/** `takeRows`: nothing else writes or erases texts of the thread before the commit; `lockRows`: nothing erases any. */
export function* lockThread(
  { context }: PayloadStore,
  thread: number,
  lock: 'lockRows' | 'takeRows',
): Work<void> {
  if (!isAlone(context)) yield write(`SELECT 1 FROM texts WHERE id = ? ${context[lock]}`, [thread]);
}

/** Whether the row is new. `sql` inserts nothing where it is there. */
function* insertNew(store: PayloadStore, sql: string, params: StepParams): Work<boolean> {
  if (store.asks) {
    const changes: number = yield count(sql, params);
    return changes > 0;
  }
  yield some(sql, params, outdated);
  return true;
}

/** Undefined: the row is there. */
export function* insertText(
  store: PayloadStore,
  table: TextTable,
  sql: string,
  params: Readonly<Record<string, string | Uint8Array | number | null>>,
  text: string,
  { cost, used, ...columns }: NewText,
): Work<BaseText | undefined> {
  yield* keepBases(store, table, used);
  const id: number = yield newIds(table);
  if (!(yield* insertNew(store, sql, { id, ...params, ...columns }))) return undefined;
  store.kept.add(keyOf(table, id));
  return { id, text, cost, crc: columns.crc };
}
