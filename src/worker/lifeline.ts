/**
 * A thread that sends heartbeats to the server even while the main thread computes. When the server is gone, it kills the
 * worker and all child processes of graph code.
 */
import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { HEARTBEAT_BYTES, HEARTBEAT_INTERVAL_MS, encodeHeartbeat } from '../workers/heartbeat.ts';
import { endGroup } from './end-group.ts';
import { ownTime } from './own-time.ts';
import { SIGN, TURN_MS } from './vital-signs.ts';

const LIFELINE_FD = 4;

const signs = new Float64Array(workerData as SharedArrayBuffer);
const clock = systemClock();
const line = new Socket({ fd: LIFELINE_FD, readable: true, writable: true });
const ownTimeSince = ownTime();
let measuredAt = clock.monotonic();
let ownMs = 0;
let lastTurn = { turns: signs[SIGN.turns]!, ownMs };

line.on('error', endGroup);
line.on('close', endGroup);
line.resume();

function sendHeartbeat(): void {
  const now = clock.monotonic();
  const turns = signs[SIGN.turns]!;
  ownMs += ownTimeSince(now - measuredAt, turns !== lastTurn.turns);
  measuredAt = now;
  if (turns !== lastTurn.turns) lastTurn = { turns, ownMs };
  const bytes = encodeHeartbeat({
    stalledMs: Math.max(0, Math.round(ownMs - lastTurn.ownMs - TURN_MS)),
    ownMs: Math.round(ownMs),
    busyPermille: signs[SIGN.busyPermille]!,
    rss: process.memoryUsage.rss(),
  });
  // Unread heartbeats stay in this process's memory, so their number is bounded.
  if (line.writableLength < 64 * HEARTBEAT_BYTES) line.write(bytes);
  clock.after(HEARTBEAT_INTERVAL_MS, sendHeartbeat);
}
sendHeartbeat();
