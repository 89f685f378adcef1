/**
 * Work of the store as steps: what it asks and writes, one statement after the other, without saying how an engine runs
 * them. SQLite runs the steps of a work at once; an engine behind a socket sends writes on their way and waits for answers.
 */
import type { Coder, Stored } from './coder.ts';

type Param = Stored | number | null;

/** By name (`@name`), or by place (`?`) where each microsecond counts. */
export type StepParams = Readonly<Record<string, Param>> | readonly Param[];

/** A statement, constant text with parameters. */
export interface Step {
  /**
   * `rows`: all rows are the answer. `count`: how many rows were changed is the answer. `write`: nobody waits for an
   * answer; what fails undoes the transaction. `some`: as `write`, and a row must be found or changed: else the work is
   * refused. `ids`: the answer is the first of `count` new row ids of the table `sql`, which follow each other.
   */
  readonly want: 'rows' | 'count' | 'write' | 'some' | 'ids';
  readonly sql: string;
  readonly params: StepParams;
  /** What a work without such a row is refused with; what it has written is undone. */
  readonly refusal?: () => Error;
  /** The rows that a write changes, each named alike by all that do. Writes about other rows may come before or with it. */
  readonly about?: readonly string[];
  /** Rows that such a write needs as those before it have left them. */
  readonly reads?: readonly string[];
}

/**
 * Returns its result; throws what the work refuses. Between two steps no other work sees what was written. `never`: the
 * one who asks names the type of the answer.
 */
export type Work<T> = Generator<Step, T, never>;

/** How work reaches an engine: each in a transaction of its own. */
export type Run = <T>(work: Work<T>) => Promise<T>;

export const rows = (sql: string, params: StepParams): Step => ({ want: 'rows', sql, params });
/** Work that is one question. */
export function* ask<R>(sql: string, params: StepParams): Work<R[]> {
  return yield rows(sql, params);
}

/** Resolves with the result of the work; `run` is called for work that has a step. */
export async function unlessAsking<T>(work: Work<T>, run: Run): Promise<T> {
  const first = work.next(undefined as never);
  return first.done ? first.value : await run(goOn(work, first));
}

function* goOn<T>(work: Work<T>, first: IteratorResult<Step, T>): Work<T> {
  let next = first;
  while (!next.done) next = work.next(yield next.value);
  return next.value;
}

export const count = (sql: string, params: StepParams): Step => ({ want: 'count', sql, params });
export const write = (sql: string, params: StepParams, about?: readonly string[]): Step => ({
  ...{ want: 'write', sql, params, ...(about && { about }) },
});
export const some = (
  sql: string,
  params: StepParams,
  refusal: () => Error,
  about?: readonly string[],
): Step => ({ want: 'some', sql, params, refusal, ...(about && { about }) });
export const newIds = (table: string, of = 1): Step => ({ want: 'ids', sql: table, params: { count: of } });

export interface SharedContext {
  /** Milliseconds since 1970 by the store's clock, as an SQL expression. */
  readonly clock: string;
  /** Behind a SELECT: rows that another transaction has locked are passed by. */
  readonly skipLocked: string;
}

/** What work knows of the engine that runs it. */
export interface WorkContext {
  readonly coder: Coder;
  /** The column that has the order of writing, in tables with row ids. */
  readonly order: string;
  /** Behind a SELECT: the rows that it finds stay as they are until the commit. */
  readonly lockRows: string;
  /** Behind a SELECT: no other transaction changes or locks the rows that it finds before the commit. */
  readonly takeRows: string;
  /** The id that a column of payloads has, as it is shown. */
  readonly shownId: (column: string) => string;
  /** The bytes of a column of content, as they are stored. */
  readonly bytes: (column: string) => string;
  /** Selects from the list in JSON that a column or parameter holds, as `value`. */
  readonly listed: (list: string) => string;
  /** A list in JSON of the different values of an expression, `[]` of none. */
  readonly gathered: (value: string) => string;
  /** Of an engine that several servers share; undefined where no other transaction writes before this one ends. */
  readonly shared?: SharedContext;
}
