/**
 * The reader thread: one read-only connection, one question at a time, nothing kept open between two. A query cannot
 * be interrupted from outside; but those that take long call our functions for every candidate, so these give up when
 * the question's time is over.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../kernel/clock.ts';
import type { SqlFunctions } from '../port/rows.ts';
import { openConnection } from './connection.ts';
import { openCoder } from './keyring.ts';
import type { Answer, Question, ReaderSetup } from './reader-protocol.ts';
import { createRowReader } from './row-store.ts';
import { createStatements } from './statements.ts';

class TimeOver extends Error {}

/** Reading the clock costs as much as a small comparison. */
const CALLS_PER_LOOK = 64;

const clock = systemClock();

function withDeadline(functions: SqlFunctions): { functions: SqlFunctions; until(at: number): void } {
  let deadline = Infinity;
  let calls = 0;
  const look = (): void => {
    if (++calls % CALLS_PER_LOOK === 0 && clock.monotonic() > deadline) throw new TimeOver();
  };
  const limited = Object.entries(functions).map(([name, fn]): [string, SqlFunctions[string]] => [
    name,
    (a, b) => {
      look();
      return fn(a, b);
    },
  ]);
  return { functions: Object.fromEntries(limited), until: (at) => (deadline = at) };
}

const { file, functionsModule, keys = [] } = workerData as ReaderSetup;
const { sqlFunctions } = (await import(functionsModule)) as { sqlFunctions: SqlFunctions };
const { functions, until } = withDeadline(sqlFunctions);
const db = openConnection(file, { readonly: true, functions });
const rows = createRowReader(createStatements(db, openCoder(db, keys, functions)));

parentPort!.on('message', ({ sql, params, ms }: Question) => {
  until(clock.monotonic() + ms);
  let answer: Answer;
  try {
    answer = { kind: 'rows', rows: rows.all(sql, params) };
  } catch (error) {
    answer =
      error instanceof TimeOver
        ? { kind: 'slow' }
        : { kind: 'error', message: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(answer);
});
parentPort!.postMessage({ kind: 'ready' } satisfies Answer);
