import { Worker } from 'node:worker_threads';

const POLL_INTERVAL_MS = 50;

const WATCH = `
const { workerData: limitMs } = require('node:worker_threads');
const began = process.cpuUsage();
setInterval(() => {
  const { user, system } = process.cpuUsage(began);
  if ((user + system) / 1000 > limitMs) process.kill(process.pid, 'SIGKILL');
}, ${POLL_INTERVAL_MS});
`;

/**
 * Kills this process with SIGKILL after `limitMs` of processor time from now on. Waiting does not count, so a busy
 * machine does not shorten the limit. A thread watches, because the main thread may be blocked.
 */
export function limitProcessorTime(limitMs: number): void {
  new Worker(WATCH, { eval: true, workerData: limitMs, execArgv: [] }).unref();
}
