/**
 * Work of the store as steps: what it asks and writes, one statement after the other, without saying how an engine runs
 * them. SQLite runs the steps of a work at once; an engine behind a socket sends writes on their way and waits for answers.
 */
import type { Coder, Stored } from './coder.ts';

export type StepParams = Readonly<Record<string, Stored | number | null | readonly string[]>>;

/** A statement, constant text with named parameters. */
export interface Step {
  /**
   * `rows`: all rows are the answer. `count`: how many rows were changed is the answer. `write`: nobody waits for an
   * answer; what fails undoes the transaction. `id`: the answer is a new row id of the table, higher than those that the
   * same transaction has got; `sql` is the table's name.
   */
  readonly want: 'rows' | 'count' | 'write' | 'id';
  readonly sql: string;
  readonly params: StepParams;
}

/** Returns its result; throws what the work refuses. Between two steps no other work sees what was written. */
export type Work<T> = Generator<Step, T, never>;

/** What work knows of the engine that runs it. */
export interface WorkContext {
  readonly coder: Coder;
}
