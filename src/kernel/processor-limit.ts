import { Worker } from 'node:worker_threads';

/** Poll interval. */
const LOOK_MS = 50;

const WATCH = `
const { workerData: limitMs } = require('node:worker_threads');
const began = process.cpuUsage();
setInterval(() => {
  const { user, system } = process.cpuUsage(began);
  if ((user + system) / 1000 > limitMs) process.kill(process.pid, 'SIGKILL');
}, ${LOOK_MS});
`;

/**
 * Ends this process with SIGKILL once it has used this much processor time from now on. A busy machine makes work
 * longer without using up its limit. A thread watches, because the work may not pause.
 */
export function limitProcessorTime(limitMs: number): void {
  new Worker(WATCH, { eval: true, workerData: limitMs, execArgv: [] }).unref();
}
