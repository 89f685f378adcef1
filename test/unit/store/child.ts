/**
 * A process of its own for the log's tests: `child.ts open <dir>` tries to open a log that somebody else has;
 * `child.ts fill <dir>` writes until the disk takes no more; `child.ts die <dir>` commits and is killed; `child.ts hold
 * <dir>` keeps the log open without its lock until it is killed. Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createManualClock } from '../../support/manual-clock.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, said } from '../../support/batches.ts';
import type { CommitResult } from '../../../src/store/port/log.ts';
import { openSqliteLog } from '../../../src/store/sqlite/log.ts';

const [what, dir] = process.argv.slice(2);
const open = () =>
  openSqliteLog({
    dir: dir!,
    projection: fakeProjection(),
    clock: createManualClock(1),
    onFault: console.error,
  });

async function fill(): Promise<object> {
  // Without a listener the signal of the file-size limit would end the process.
  process.on('SIGXFSZ', () => undefined);
  const log = open();
  const poisoned: string[] = [];
  log.onPoisoned((cause) => poisoned.push(cause));
  const block = 'x'.repeat(50_000);
  for (let round = 0; round < 1000; round++) {
    const group = await Promise.all([
      log.commit(batch([append('small', round, 'a')])),
      log.commit(batch([{ stream: 'big', expected: round, events: [said(block)] }])),
      log.commit(batch([append('small', round, 'conflicts')])),
      log.commit(batch([append('tail', round, 'b')], { commandId: `tail-${round}`, repeatable: true })),
    ]);
    if (group.every(({ kind }) => kind !== 'unknown-outcome')) continue;
    const later: CommitResult[] = [];
    for (let i = 0; i < 3; i++) later.push(await log.commit(batch([append('later', 0, 'c')])));
    const readable = (await log.readStream('tail', 1, 10_000)).length;
    return { round, group, later, poisoned, readable };
  }
  throw new Error('the disk never was full');
}

async function die(): Promise<void> {
  const log = open();
  const last = (await log.readAll(0, 1_000)).length;
  for (let i = last; i < last + 3; i++) await log.commit(batch([append('s', i, `n${i}`)]));
  process.kill(process.pid, 'SIGKILL');
}

/** As code of a graph may that searches the directory. */
function hold(): void {
  const log = open();
  readFileSync(join(dir!, 'lock.db'));
  // What nobody refers to is closed by the garbage collector.
  setInterval(() => log, 60_000);
  console.log(JSON.stringify({ pid: process.pid }));
}

if (what === 'die') await die();
else if (what === 'hold') hold();
else if (what === 'fill') console.log(JSON.stringify(await fill()));
else
  try {
    await open().close();
    console.log(JSON.stringify({ opened: true }));
  } catch (error) {
    console.log(
      JSON.stringify({ opened: false, name: (error as Error).name, message: (error as Error).message }),
    );
  }
