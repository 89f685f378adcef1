/** How questions reach an engine: constant SQL with named parameters, every value bound. */
import type { Cell, Row } from '../port/rows.ts';

/** A list is bound as one parameter, for `oneOf` and `holders`. */
export type Params = Readonly<Record<string, Cell | readonly string[]>>;

/** What the engines say differently. */
export interface Dialect {
  /** The column is one of the list that the parameter holds. */
  oneOf(column: string, parameter: string): string;
  /** Selects the ids of visible threads that have one of the pairs in the list that the parameter holds; of one pair, once. */
  holders(parameter: string): string;
  /** Whether the row `t` of `threads` has one of these pairs. */
  holds(parameter: string): string;
  /** Whether the row `t` of `carried_threads` has one of these pairs. */
  carries(parameter: string): string;
  /** A condition that an index can answer about a long text: the index may hold the beginnings of texts alone. */
  bounds(column: string, comparison: '>=' | '<=', parameter: string): string;
  /** The order of a long text, which such an index begins. */
  order(column: string): string;
  /** An id as tables of payloads have it. */
  storedId(column: string): string;
}

export interface Points {
  readonly dialect: Dialect;
  /** A point: an index bounds what is looked at, so the writer's connection answers. */
  all<R extends Row = Row>(sql: string, params?: Params): Promise<R[]>;
  get<R extends Row = Row>(sql: string, params?: Params): Promise<R | undefined>;
}

export interface Walks extends Points {
  /** Rows in windows, for a question that judges them one by one. */
  walk<R extends Row = Row>(sql: string, params?: Params): AsyncIterable<readonly R[]>;
}

export interface Ask extends Points {
  /** Answers a question where it may take its time, as of every commit that was acknowledged before the call. */
  scan<A extends readonly unknown[], R>(question: Scan<A, R>, ...args: A): Promise<R>;
}

/**
 * A question that may look at more rows than it returns. It may be answered in another thread, by its name: arguments and
 * answer are plain data.
 */
export interface Scan<A extends readonly unknown[], R, In = Walks> {
  readonly name: string;
  answer(ask: In, ...args: A): Promise<R>;
}

/** Answers scans where points are answered, too: of a past, or of a log without a reader thread. */
export function withOwnScans(ask: Walks): Ask {
  return { ...ask, scan: (question, ...args) => question.answer(ask, ...args) };
}
