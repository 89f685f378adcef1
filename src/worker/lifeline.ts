/**
 * A thread that sends heartbeats to the server even while the main thread computes. When the server is gone, it kills the
 * worker and all child processes of graph code. In development it prints which line blocks the main thread.
 */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { placeText } from '../kernel/stack.ts';
import { HEARTBEAT_BYTES, HEARTBEAT_INTERVAL_MS, encodeHeartbeat } from '../workers/heartbeat.ts';
import { endGroup } from './end-group.ts';
import { ownTime } from './own-time.ts';
import { findStall } from './stall-place.ts';
import { SIGN, TURN_MS } from './vital-signs.ts';

const LIFELINE_FD = 4;
const STDERR_FD = 2;
const MAX_STALL_MS = 5_000;

const signs = new Float64Array(workerData as SharedArrayBuffer);
const clock = systemClock();
const line = new Socket({ fd: LIFELINE_FD, readable: true, writable: true });
const ownTimeSince = ownTime();
let measuredAt = clock.monotonic();
let ownMs = 0;
let lastTurn = { turns: signs[SIGN.turns]!, ownMs };
/** The turn whose stall was reported. */
let reported: number | undefined;

line.on('error', endGroup);
line.on('close', endGroup);
line.resume();

function sendHeartbeat(): void {
  const now = clock.monotonic();
  const turns = signs[SIGN.turns]!;
  ownMs += ownTimeSince(now - measuredAt, turns !== lastTurn.turns);
  measuredAt = now;
  if (turns !== lastTurn.turns) lastTurn = { turns, ownMs };
  if (signs[SIGN.isDevelopment] === 1 && ownMs - lastTurn.ownMs > MAX_STALL_MS && reported !== turns) {
    reported = turns;
    findStall((place) => {
      const text = `${placeText(place)} has blocked its thread for ${MAX_STALL_MS / 1_000} s: no other run of it goes on\n`;
      writeSync(STDERR_FD, text);
    });
  }
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
