/**
 * From a cancellation to the signal in graph code: from the moment before the request is sent, which holds the request and
 * its commit too, and from the reply that accepts it. Both ends read the clock of the machine, in whole milliseconds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTempDir } from '../support/temp-dir.ts';
import { percentile } from './figures.ts';
import { withServerProcess, type Report } from './load-figures.ts';

const CANCELS = 100;
/** Runs that write frames meanwhile, in the second half. */
const STREAMS = 16;

type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

interface Heard {
  readonly sinceSent: number;
  readonly sinceAccepted: number;
}

async function cancelOnce(ask: Ask, heard: string): Promise<Heard> {
  const { thread_id: thread } = await ask('POST', '/threads', {});
  const config = { configurable: { heard } };
  const run = await ask('POST', `/threads/${String(thread)}/runs`, { assistant_id: 'listener', config });
  const path = `/threads/${String(thread)}`;
  while (((await ask('GET', path))['values'] as { listens?: boolean } | null)?.listens !== true);
  const before = linesOf(heard).length;
  const sent = Date.now();
  await ask('POST', `${path}/runs/${String(run['run_id'])}/cancel`);
  const accepted = Date.now();
  await ask('GET', `${path}/runs/${String(run['run_id'])}/join`);
  const at = Number(linesOf(heard)[before]);
  return { sinceSent: at - sent, sinceAccepted: at - accepted };
}

const linesOf = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

export const measureSignal = (report: Report): Promise<void> =>
  withServerProcess(({ url }) =>
    withTempDir(async (dir) => {
      const heard = join(dir, 'heard');
      const ask: Ask = async (method, path, body) => {
        const headers = { 'content-type': 'application/json' };
        const payload = body === undefined ? {} : { headers, body: JSON.stringify(body) };
        const response = await fetch(`${url}${path}`, { method, ...payload });
        const text = await response.text();
        return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      };
      const measure = async (name: string): Promise<void> => {
        const all: Heard[] = [];
        for (let i = 0; i < CANCELS; i++) all.push(await cancelOnce(ask, heard));
        const since = all.map(({ sinceSent }) => sinceSent);
        const after = all.map(({ sinceAccepted }) => sinceAccepted);
        report({
          ...{ name, unit: 'ms p99', value: percentile(since, 0.99), bar: { atMost: 50 } },
          against: `p50 ${percentile(since, 0.5)}, most ${Math.max(...since)}; after the reply to the cancellation: at most ${Math.max(...after)}`,
        });
      };
      await measure('cancel sent to signal in graph code');
      const input = { frames: 100_000, everyMs: 50 };
      const streams = Array.from({ length: STREAMS }, () =>
        ask('POST', '/runs', { assistant_id: 'ticker', input, stream_mode: 'custom' }),
      );
      await Promise.all(streams);
      await measure(`the same beside ${STREAMS} runs that write 20 frames/s each`);
    }),
  );
