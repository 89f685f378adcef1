/**
 * The thread of a stateless run lies in the run's row, in columns `thread_…` (thread/carrier.ts). When anything else
 * happens to the thread, its row is made of these.
 */
import type { Recorded } from '../../port/events.ts';
import type { OwnWrite, Row, RowWrite } from '../../port/rows.ts';
import { carrierAfter } from '../../../thread/carrier.ts';
import type { ThreadEvent } from '../../../thread/events.ts';
import { CARRIED, carriedColumn, SCHEMA } from './tables.ts';
import { newThreadRow } from './threads.ts';

/** Name of the run's column by that of the thread's. */
const COPY: Readonly<Record<string, string>> = Object.fromEntries(
  CARRIED.map((name) => [name, carriedColumn(name)]),
);

const carried = <T>(cells: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(cells).flatMap(([name, cell]) => (name in COPY ? [[COPY[name]!, cell]] : [])),
  );

/** Of a run that carries no thread. */
const NOTHING_CARRIED: Row = carried(Object.fromEntries(CARRIED.map((name) => [name, null])));

/** `writes`: those of an event, as if every thread had a row. */
export function placeThread(event: Recorded<ThreadEvent>, writes: readonly OwnWrite[]): readonly RowWrite[] {
  const { type, data } = event;
  if (type === 'ThreadCreated') return data.temporary ? [] : writes;
  const carrier = 'carrier' in data ? data.carrier : undefined;
  const isCarried = carrier !== undefined && carrierAfter(event) === carrier;
  const placed =
    type === 'RunCreated'
      ? withRun(writes, isCarried ? newThreadRow(data.threadId, event.meta.at) : undefined)
      : isCarried
        ? writes.map((write) => (isThreadUpdate(write) ? onRun(write, carrier) : write))
        : writes;
  return carrier === undefined || isCarried ? placed : [...lift(data.threadId, carrier), ...placed];
}

/** `thread`: the thread that the created run carries, as it was before. */
function withRun(writes: readonly OwnWrite[], thread: Row | undefined): OwnWrite[] {
  const update = writes.find(isThreadUpdate);
  const columns = thread ? carried({ ...thread, ...update?.set }) : NOTHING_CARRIED;
  return writes.flatMap((write): OwnWrite[] => {
    if (write.op === 'put') return [{ ...write, row: { ...write.row, ...columns } }];
    return thread !== undefined && write === update ? [] : [write];
  });
}

const onRun = ({ set, copy }: UpdateWrite, carrier: string): UpdateWrite => ({
  ...{ op: 'set', table: 'runs', key: { run_id: carrier }, set: carried(set) },
  ...(copy && {
    copy: Object.fromEntries(Object.entries(copy).map(([to, from]) => [COPY[to]!, COPY[from]!])),
  }),
});

type UpdateWrite = Extract<OwnWrite, { op: 'set' }>;

const isThreadUpdate = (write: OwnWrite): write is UpdateWrite =>
  write.op === 'set' && write.table === 'threads';

function lift(threadId: string, carrier: string): RowWrite[] {
  const key = { run_id: carrier };
  const fresh = { ...newThreadRow(threadId, 0), temporary: 1 };
  const row = Object.fromEntries(Object.entries(fresh).filter(([name]) => !(name in COPY)));
  return [
    { op: 'lift', table: 'threads', from: 'runs', key, row, copy: COPY },
    { op: 'set', table: 'runs', key, set: NOTHING_CARRIED },
  ];
}

/** Temporary threads that runs carry, with the columns of `threads`. `nullOf`: NULL of a column's type. */
export function carriedView(nullOf: (declared: string) => string): string {
  const from: Readonly<Record<string, string>> = { ...COPY, thread_id: 'thread_id', temporary: '1' };
  const columns = Object.entries(SCHEMA['threads']!.columns).map(
    ([name, declared]) => `${from[name] ?? nullOf(declared)} AS ${name}`,
  );
  return `CREATE VIEW carried_threads AS SELECT ${columns.join(', ')} FROM runs WHERE thread_status IS NOT NULL`;
}
