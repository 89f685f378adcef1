/**
 * The power fails while the program works. A trace of what it wrote and when it synced says what may be on the disk
 * at each moment, and its clients know what it had promised by then. `IMAGES=n SEED=n` for more of them.
 */
import * as assert from 'uvu/assert';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openConnection, type Connection } from '../../src/store/sqlite/connection.ts';
import { openSqliteLog } from '../../src/store/sqlite/log.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { projection } from '../../src/store/sql/rows/projection.ts';
import { withPrograms } from '../e2e/programs.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { heldAt, makeClaims, type Claim } from './disk/claims.ts';
import { openDisk, type Survivors } from './disk/power-loss.ts';
import { isSync, readTrace, straceLacking, straceWords, type Call } from './disk/strace.ts';

const test = suite('power loss');

const WAL = 'log.db-wal';
const SYNC_MS = 12;
const IMAGES = Number(process.env['IMAGES'] ?? 24);
const SURVIVORS: readonly Survivors[] = ['none', 'some', 'all'];

/** Neither a reply nor a frame may be heard before a sync that follows its write has ended. */
function assertNothingEarly(calls: readonly Call[], claims: readonly Claim[]): void {
  const wal = calls.filter(({ file }) => file === WAL);
  const traced = claims.filter(({ trace }) => trace !== undefined);
  assert.ok(traced.length > 30, `${traced.length} claims to look for`);
  for (const { what, trace, heardAt } of traced) {
    const written = wal.findIndex(({ data }) => data.includes(trace!));
    assert.ok(written >= 0, `${what} ${trace} was never written`);
    const durable = wal.slice(written).find(isSync)?.ended ?? Infinity;
    assert.ok(durable <= heardAt, `${what} ${trace} was heard at ${heardAt} and durable at ${durable}`);
  }
}

/** Opens what a power loss left, as the program does, and looks for all that it had promised. */
async function assertHeld(dir: string, promised: readonly Claim[], where: string): Promise<void> {
  const faults: unknown[] = [];
  const log = openSqliteLog({
    ...{ dir, projection, clock: systemClock() },
    onFault: (error) => faults.push(error),
  });
  const db: Connection = openConnection(join(dir, 'log.db'), { readonly: true });
  try {
    assert.equal(db.pragma('integrity_check'), [{ integrity_check: 'ok' }], where);
    const lost = promised.filter(({ sql, params }) => db.prepare(sql).get(...params) === undefined);
    assert.equal(lost, [], `lost ${where}`);
  } finally {
    db.close();
    await log.close();
  }
  assert.equal(faults, []);
  await assertVerified(dir);
}

test(
  'nothing is told before its sync, and no power loss takes back what was told (L1, L2, S1, P2)',
  () =>
    withPrograms(async ({ serve, dir }) =>
      withWebhookSink(async (sink) => {
        const random = createRandom(seedFromEnv());
        const data = join(dir, 'data');
        const out = join(dir, 'trace');
        const inject = [`fsync,fdatasync:delay_enter=${SYNC_MS * 1000}`];
        const words = straceWords({ data, out, inject, withData: true, withMark: true });
        const server = await serve({ before: `set -- ${words.join(' ')} "$@"` });
        const claims = (
          await Promise.all(['a', 'b', 'c'].map((name) => makeClaims(server, sink, 4, name)))
        ).flat();
        await sink.next(12);
        // Its pipes close when the tracer has written everything down.
        await server.end('SIGKILL');

        const calls = readTrace(out);
        assertNothingEarly(calls, claims);
        const moments = Array.from({ length: IMAGES }, (_, i) => ({
          before: i === 0 ? calls.length : random.int(1, calls.length),
          survivors: SURVIVORS[i % SURVIVORS.length]!,
        })).sort((a, b) => a.before - b.before);
        const disk = openDisk();
        let done = 0;
        let marked = 0;
        let held = 0;
        for (const [i, { before, survivors }] of moments.entries()) {
          for (; done < before; done++) disk.apply(calls[done]!);
          const image = join(dir, `image-${i}`);
          await mkdir(image);
          for (const [name, bytes] of disk.image(survivors, random)) {
            await writeFile(join(image, name), bytes);
            if (name === 'log.db-head' && bytes.length > 0) marked += 1;
          }
          const promised = heldAt(claims, calls[before]?.began ?? Infinity);
          held += promised.length;
          await assertHeld(image, promised, `before call ${before}, ${survivors} of the unsynced there`);
        }
        assert.ok(marked > 0, 'no image has a mark');
        assert.ok(held > 40, `${held} promises were looked for`);
      }),
    ),
  { lacking: straceLacking() },
);

test.run();
