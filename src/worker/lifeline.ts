/**
 * The thread of the life line: tells the server how the worker is while its main thread computes, and ends the worker with
 * everything that it started when the server is gone.
 */
import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { BEAT_BYTES, BEAT_MS, encodeBeat } from '../workers/beat.ts';
import { SIGN, TURN_MS } from './vital-signs.ts';

const LIFELINE_FD = 4;

const signs = new Float64Array(workerData as SharedArrayBuffer);
const clock = systemClock();
const line = new Socket({ fd: LIFELINE_FD, readable: true, writable: true });
let turned = { turns: signs[SIGN.turns]!, at: clock.monotonic() };

/** The worker leads a process group of its own, so children of graph code end with it. */
const endGroup = (): void => {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // Without a group, as on Windows.
    process.kill(process.pid, 'SIGKILL');
  }
};
line.on('error', endGroup);
line.on('close', endGroup);
line.resume();

function beat(): void {
  const now = clock.monotonic();
  const turns = signs[SIGN.turns]!;
  if (turns !== turned.turns) turned = { turns, at: now };
  const beatBytes = encodeBeat({
    stalledMs: Math.max(0, Math.round(now - turned.at - TURN_MS)),
    busyPermille: signs[SIGN.busyPermille]!,
    rss: process.memoryUsage.rss(),
  });
  // A server that does not read must not fill this process's memory.
  if (line.writableLength < 64 * BEAT_BYTES) line.write(beatBytes);
  clock.after(BEAT_MS, beat);
}
beat();
