/**
 * Runs work on one connection as one pipeline: statements leave as they come, and what the work waits for is flushed. The
 * pipeline is one transaction, which its end commits, so an error anywhere undoes all of it (L1).
 *
 * A statement that is new to the connection is described first, once: its types decide how values travel.
 */
import pg from 'pg';
import type { Row } from '../port/rows.ts';
import type { Step, Work } from '../sql/work.ts';
import { createPending } from './pending.ts';
import { demanding, forMany, numbered } from './statement-text.ts';
import { decoderOf, encode, encodeMany } from './values.ts';
import type { Exchange, Prepared, Statement, Wire } from './wire.ts';

/** The connection ended before its answer came. */
export class ConnectionLost extends Error {
  /** Whether the end of the transaction was on its way, which may so have happened. */
  readonly isUnknown: boolean;
  constructor(cause: Error, isUnknown: boolean) {
    super(`the connection to the database was lost: ${cause.message}`, { cause });
    this.name = 'ConnectionLost';
    this.isUnknown = isUnknown;
  }
}

/** SQLSTATEs of a statement that needs a row, or that it is new: a division by zero, a unique key that is there. */
const NONE_FOUND = /^(?:22012|23505)$/;

type Param = Parameters<typeof encode>[0];

/** SQLSTATEs that end the connection: the transaction may be done. Severities are not compared, as they are translated. */
const ENDS_CONNECTION = /^(?:08|57P|25P0[34])/;

/** How many row ids are drawn at once; the sequences grow by as many. */
export const ID_BLOCK = 1000;

interface Sent {
  readonly statement: Statement;
  readonly rows: Row[];
  readonly step: Step;
  readonly isAwaited: boolean;
}

/** New row ids: whole blocks, which another node may have drawn between. */
const DRAW = (table: string): string =>
  `SELECT min(id) AS first, max(id) AS last FROM (SELECT nextval('${table}_ids') AS id FROM generate_series(1, @blocks)) AS drawn`;

/**
 * `alone`: the pipeline is the transaction. `shared`: of several works, of whose refusals any will do. `snapshot`: a transaction that reads, in which all steps see the same moment.
 * `open`: one that was begun before and goes on.
 */
export type Transaction = 'alone' | 'shared' | 'snapshot' | 'open';

/** Of statements that no work asks for. */
const NO_STEP: Step = { want: 'write', sql: '', params: [] };
const NO_STATEMENT: Statement = { name: '', text: '', params: [], types: [], fields: [] };

const paramOf = ({ params }: Step, name: string | number): Param =>
  (params as Readonly<Record<string | number, Param>>)[name];

/** `settle` is called once, with the result of the work when all of it is committed. */
export function createExchange<T>(
  prepared: Prepared,
  work: Work<T>,
  transaction: Transaction,
  settle: (error: Error | undefined, value?: T) => void,
): Exchange {
  const sent: Sent[] = [];
  const added: (() => void)[] = [];
  const pending = createPending(transaction === 'shared');
  const knownOf = ({ want }: Step): Map<string, Statement> =>
    want === 'some' ? prepared.demanding : prepared.statements;
  /** The first row id of each table's current block that the work was given. */
  const given = new Map<string, number>();
  let drawing: { readonly table: string; readonly count: number; readonly blocks: number } | undefined;
  let wire!: Wire;
  let learning: { statement: Statement; then: () => void } | undefined;
  let result: { readonly value: T } | { readonly refusal: Error } | undefined;
  let isSettled = false;

  function end(error: Error | undefined, value?: T): void {
    if (isSettled) return;
    isSettled = true;
    // Which of the new statements the server still has prepared is unknown.
    if (error !== undefined) for (const forget of added) forget();
    // Their rows are undone.
    if (error !== undefined) for (const [table, id] of given) prepared.ids.get(table)!.next = id;
    settle(error, value);
  }

  function learn(step: Step, then: (statement: Statement) => void): void {
    const { sql } = step;
    const { text, params } = numbered(sql);
    const statement: Statement = { name: `s${(prepared.count += 1)}`, text, params, types: [], fields: [] };
    const known = knownOf(step);
    known.set(sql, statement);
    added.push(() => void known.delete(sql));
    learning = { statement, then: () => then(statement) };
    wire.parse({ name: statement.name, text: step.want === 'some' ? demanding(text) : text });
    wire.describe({ type: 'S', name: statement.name });
    wire.flush();
  }

  function learnt(): void {
    const { then } = learning!;
    learning = undefined;
    // The connection has it now, whatever becomes of the transaction.
    added.pop();
    corked(then);
  }

  function send(step: Step, statement: Statement, isAwaited: boolean): void {
    const values = statement.params.map((name, at) => encode(paramOf(step, name), statement.types[at]!));
    wire.bind({ statement: statement.name, values });
    wire.execute({});
    sent.push({ statement, rows: [], step, isAwaited });
    if (isAwaited) wire.flush();
  }

  /** Sends what is pending, in its order. */
  function release(): void {
    for (const steps of pending.take()) {
      const [first] = steps as [Step];
      const statement = knownOf(first).get(first.sql)!;
      const many = steps.length === 1 ? null : nameForMany(statement, first.want === 'some');
      if (many === null) for (const step of steps) send(step, statement, false);
      else {
        const values = statement.params.map((name, at) =>
          encodeMany(
            steps.map((step) => paramOf(step, name)),
            statement.types[at]!,
          ),
        );
        wire.bind({ statement: many, values });
        wire.execute({});
        sent.push({ statement, rows: [], step: first, isAwaited: false });
      }
    }
  }

  function nameForMany(statement: Statement, isDemanding: boolean): string | null {
    if (statement.many !== undefined) return statement.many;
    const text = forMany(statement.text, statement.types);
    if (text === undefined) return (statement.many = null);
    statement.many = `s${(prepared.count += 1)}`;
    added.push(() => delete statement.many);
    wire.parse({ name: statement.many, text: isDemanding ? demanding(text, true) : text });
    return statement.many;
  }

  /** Goes on with the work until it waits for an answer. */
  function proceed(answer?: unknown): void {
    for (let reply = answer; ;) {
      const next = work.next(reply as never);
      if (next.done) {
        release();
        return finish({ value: next.value });
      }
      reply = undefined;
      const step = next.value;
      if (step.want === 'ids') {
        reply = take(step.sql, (step.params as { count: number }).count);
        if (reply === undefined) return;
      } else if (step.about !== undefined && knownOf(step).has(step.sql)) pending.add(step);
      else {
        release();
        if (!pass(step)) return;
      }
    }
  }

  /** Sends a step; false when the work waits, for its answer or for what the statement looks like. */
  function pass(step: Step): boolean {
    const isAwaited = step.want !== 'write' && step.want !== 'some';
    const statement = knownOf(step).get(step.sql);
    if (statement === undefined)
      learn(step, (learnt) => {
        send(step, learnt, isAwaited);
        if (!isAwaited) proceed();
      });
    else send(step, statement, isAwaited);
    return statement !== undefined && !isAwaited;
  }

  /** The first of new row ids. Undefined: they are drawn first. */
  function take(table: string, count: number): number | undefined {
    const ids = prepared.ids.get(table);
    if (ids !== undefined && ids.next + count <= ids.end) {
      if (!given.has(table)) given.set(table, ids.next);
      return (ids.next += count) - count;
    }
    drawing = { table, count, blocks: Math.ceil(count / ID_BLOCK) };
    pass({ want: 'rows', sql: DRAW(table), params: { blocks: drawing.blocks } });
    return undefined;
  }

  function drew({ first, last }: { first: number; last: number }): void {
    const { table, count, blocks } = drawing!;
    drawing = undefined;
    if (last === first + (blocks - 1) * ID_BLOCK) {
      prepared.ids.set(table, { next: first, end: last + ID_BLOCK });
      given.set(table, first);
    }
    const id = take(table, count);
    if (id !== undefined) proceed(id);
  }

  function answered({ step, rows }: Sent, text: string): void {
    if (drawing !== undefined) return drew(rows[0] as never);
    proceed(step.want === 'rows' ? rows : Number(/\d+$/.exec(text)?.[0] ?? 0));
  }

  /** Sends a statement about the transaction itself. */
  function control(text: string): void {
    wire.parse({ name: '', text });
    wire.bind({ statement: '', values: [] });
    wire.execute({});
    sent.push({ statement: NO_STATEMENT, rows: [], step: NO_STEP, isAwaited: false });
  }

  function finish(ended: NonNullable<typeof result>): void {
    if ('refusal' in ended && transaction !== 'open') control('ROLLBACK');
    else if (transaction === 'snapshot') control('COMMIT');
    result = ended;
    wire.sync();
  }

  /** Writes all that `go` sends at once. What the work throws undoes what it wrote. */
  function corked(go: () => void): void {
    wire.stream.cork();
    try {
      go();
    } catch (error) {
      finish({ refusal: error as Error });
    } finally {
      wire.stream.uncork();
    }
  }

  return {
    submit(connection) {
      wire = connection;
      corked(() => {
        if (transaction === 'snapshot') control('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        proceed();
      });
    },
    handleError(error) {
      const isUndone = error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(error.code ?? '');
      if (isUndone && result === undefined) wire.sync();
      if (!isUndone) end(new ConnectionLost(error, result !== undefined && 'value' in result));
      // Answers come in the order of the steps, so this one is the first without any.
      else if (NONE_FOUND.test(error.code ?? '') && sent[0]?.step.refusal !== undefined)
        end(sent[0].step.refusal());
      else end(error);
    },
    handleReadyForQuery() {
      if (result === undefined) return end(new Error('the database ended a transaction that goes on'));
      if ('refusal' in result) end(result.refusal);
      else end(undefined, result.value);
    },
    described(types) {
      if (learning !== undefined) learning.statement.types = types;
    },
    withoutRows() {
      if (learning !== undefined) learnt();
    },
    handleRowDescription({ fields }) {
      if (learning === undefined) return;
      learning.statement.fields = fields.map(({ name, dataTypeID }) => ({
        name,
        decode: decoderOf(dataTypeID),
      }));
      learnt();
    },
    handleDataRow({ fields }) {
      const { statement, rows } = sent[0]!;
      const row: Record<string, unknown> = {};
      for (const [at, { name, decode }] of statement.fields.entries()) {
        const text = fields[at]!;
        row[name] = text === null ? text : decode(text);
      }
      rows.push(row as Row);
    },
    handleCommandComplete({ text }) {
      const done = sent.shift();
      if (done?.isAwaited && result === undefined) corked(() => answered(done, text));
    },
  };
}
