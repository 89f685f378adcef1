/** Renews a node from a thread and a connection of its own: a busy event loop of the server does not hold it up. */
import { parentPort, workerData } from 'node:worker_threads';
import { processTime, systemClock } from '../../kernel/clock.ts';
import { RENEWAL_MS } from '../port/nodes.ts';
import { joinNode, leaveNode, renewNode } from '../sql/nodes.ts';
import type { Work } from '../sql/work.ts';
import { readAddress } from '../../kernel/database-address.ts';
import { SHARED_CONTEXT } from './dialect.ts';
import { CELLS, type RenewalSetup } from './renewal-protocol.ts';
import { connect, type Session } from './sessions.ts';

/** A connection that says nothing for so long is replaced: the next renewal is not to wait for it. */
const ANSWER_MS = 4_000;
/** Pause behind a renewal that failed. */
const RETRY_MS = 1_000;

const { url, id, instead, cells } = workerData as RenewalSetup;
const address = readAddress(url);
const { after } = systemClock();
let session: Session | undefined;
let cancel: () => void = () => undefined;

async function run<T>(work: Work<T>): Promise<T> {
  if (session === undefined || session.isLost) session = await connect(address);
  const asked = session;
  const cancelLimit = after(ANSWER_MS, () => void asked.end());
  try {
    return await asked.run(work);
  } finally {
    cancelLimit();
  }
}

/** `time`: the store's, between the question and its answer. */
function note(asked: bigint, time: number): void {
  Atomics.store(cells, CELLS.time, BigInt(Math.round(time)));
  Atomics.store(cells, CELLS.at, (asked + processTime()) / 2n);
  Atomics.store(cells, CELLS.last, asked);
}

async function renew(): Promise<void> {
  const asked = processTime();
  const time = await run(renewNode(SHARED_CONTEXT, id)).catch(() => -1);
  if (time === undefined) Atomics.store(cells, CELLS.isRefused, 1n);
  else if (time >= 0) note(asked, time);
  // A database that starts again within seconds costs no run.
  else renewLater(RETRY_MS);
}

function renewLater(ms = RENEWAL_MS): void {
  cancel();
  cancel = after(ms, () => {
    renewLater();
    void renew();
  });
}

const told = new Promise((resolve) => parentPort!.once('message', resolve));
const asked = processTime();
note(asked, await run(joinNode(SHARED_CONTEXT, id, instead)));
renewLater();
parentPort!.postMessage('joined');
await told;
cancel();
await run(leaveNode(id)).catch(() => undefined);
await session!.end();
