/** Plays the workload with one of its system calls failing, and says which promises that broke. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';
import { createThreads } from '../../../src/actors/threads.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { openSqliteLog } from '../../../src/store/sqlite/log.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { ask } from '../../support/given.ts';
import { assertVerified } from '../../support/assert-verified.ts';
import { readTrace, straceWords, type Call } from './strace.ts';
import type { Told } from './workload.ts';

const WORKLOAD = fileURLToPath(new URL('workload.ts', import.meta.url));

/** `once`: the call works again after it failed. */
export interface Fault {
  readonly call: string;
  readonly k: number;
  readonly effect: 'signal=KILL' | 'error=EIO' | 'error=ENOSPC';
  readonly once: boolean;
}

export const nameOf = ({ call, k, effect, once: single }: Fault): string =>
  `${call}:${effect}:when=${k}${single ? '' : '+'}`;

export interface Played {
  readonly told: readonly Told[];
  readonly code: number | null;
  readonly output: string;
  readonly calls: readonly Call[];
}

/** Runs the workload on an empty directory, with the fault if there is one. */
export async function play(data: string, fault?: Fault): Promise<Played> {
  await mkdir(data, { recursive: true });
  const out = join(dirname(data), 'calls');
  const inject = fault === undefined ? [] : [nameOf(fault)];
  const node = [process.execPath, WORKLOAD, data];
  const [command, ...args] = [...straceWords({ data, out, inject }), ...node];
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const told = printed
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Told);
  return { told, code: code as number | null, output: errors, calls: readTrace(out) };
}

const HELD: Partial<Record<Told['what'], string>> = {
  thread: 'SELECT 1 FROM threads WHERE thread_id = ?',
  group: "SELECT 1 FROM events WHERE stream = 'thread-' || ?",
  frames: 'SELECT 1 FROM frames WHERE run = stored_id(?) AND last = 19',
  item: "SELECT 1 FROM events WHERE type = 'ItemPut' AND data ->> '$.key' = ?",
  deleted: "SELECT 1 FROM events WHERE type = 'ThreadDeleted' AND stream = 'thread-' || ?",
};

/** What is wrong with what was left, and with how the workload ended. */
export async function problemsAfter(data: string, { told, code, output }: Played): Promise<string[]> {
  const problems: string[] = [];
  const last = told.at(-1)?.what;
  // It ends well, or knows that it does not know or that the disk is full, or could not even open its file, or was killed.
  const lasts: Readonly<Record<number, Told['what']>> = { 0: 'done', 70: 'unknown', 75: 'full' };
  const known = code === null || lasts[code] === undefined || last === lasts[code];
  if (!known || (code === 1 && !/disk|full|I\/O/.test(output)))
    problems.push(`it ended with ${code} after "${last}": ${output}`);

  const clock = systemClock();
  const log = openSqliteLog({
    ...{ dir: data, projection, clock },
    onFault: (error) => problems.push(String(error)),
  });
  const db = openConnection(join(data, 'log.db'), { readonly: true });
  try {
    if (db.pragma('integrity_check', { simple: true }) !== 'ok') problems.push('the file is damaged');
    for (const { what, id } of told) {
      const sql = HELD[what];
      if (sql !== undefined && db.prepare(sql).get(id) === undefined) problems.push(`lost: ${what} ${id}`);
    }
    for (const { what, id } of told)
      if (what === 'refused' && db.prepare(HELD.thread!).get(id) !== undefined)
        problems.push(`done although refused: ${id}`);
    // Whoever was not told asks again, and it is done once.
    const trying = told.findLast(({ what }) => what === 'trying')?.id;
    if (trying !== undefined) {
      const threads = createThreads({
        ...{ log, clock, ids: randomIds(clock) },
        webhooks: { enabled: false, render: () => '' },
      });
      const command = ask.createThread({ padding: 'x'.repeat(3_000) }, trying);
      const again = await threads.dispatch(trying, [command], { commandId: `create-${trying}` });
      const created = db.prepare("SELECT count(*) FROM events WHERE type = 'ThreadCreated' AND stream = ?");
      const times = created.pluck().get(`thread-${trying}`);
      if (!again.ok && again.refusal.code !== 'thread-exists') problems.push(`again: ${again.refusal.code}`);
      if (times !== 1) problems.push(`${trying} was created ${String(times)} times`);
    }
  } finally {
    db.close();
    await log.close();
  }
  await assertVerified(data).catch((error: unknown) => problems.push(String(error)));
  return problems;
}
