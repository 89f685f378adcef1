/**
 * The load patterns that the vendor of the interface publishes with the containers that each takes (Agent Server for scale,
 * docs.langchain.com/langsmith/agent-server-scale, 2026), played against one process: read requests and write requests
 * a second, each write a run of one second.
 */
import { cpuSeconds, childrenOf } from '../support/process-figures.ts';
import { percentile, type SizingFigures, type SizingOrder } from './figures.ts';
import { openLane, type Lane } from './lane.ts';
import { withServerProcess, type Report } from './load-figures.ts';
import { askSizing } from './parts.ts';

/** Reads and writes a second; API servers and queue workers of the published table, without its databases. */
const PATTERNS = [
  { reads: 5, writes: 5, containers: 2 },
  { reads: 50, writes: 50, containers: 8 },
  { reads: 500, writes: 5, containers: 11 },
  { reads: 5, writes: 500, containers: 16 },
  { reads: 500, writes: 500, containers: 25 },
];
const MAX_READS_P99_MS = 50;
const WARM_SECONDS = 5;
const THREADS = 20;
/** Requests that are due are sent this often. */
const TICK_MS = 5;
const input = { messages: [{ role: 'user', content: 'hello' }] };

export async function measureSizing(seconds: number, report: Report): Promise<void> {
  for (const { reads, writes, containers } of PATTERNS) {
    const { figures, cores } = await withServerProcess(
      async ({ url, pid }) => {
        const order = { kind: 'sizing', base: url, reads, writes } as const;
        await askSizing({ ...order, seconds: WARM_SECONDS });
        const used = (): number => [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuSeconds(each), 0);
        const before = used();
        const figures = await askSizing({ ...order, seconds });
        return { figures, cores: (used() - before) / figures.seconds };
      },
      { PLATFORM_CONCURRENCY: String(Math.max(10, 4 * writes)) },
    );
    const { readP99, writeP99, lost, sent } = figures;
    report({
      ...{ name: `${reads} reads and ${writes} runs of 1 s a second, reads p99`, value: readP99, unit: 'ms' },
      bar: { atMost: lost === 0 ? MAX_READS_P99_MS : 0 },
      against:
        `${lost} of ${sent} lost, ${cores.toFixed(2)} cores, runs p99 ${(writeP99 / 1000).toFixed(2)} s; ` +
        `the published table: ${containers} containers`,
    });
  }
}

/** Requests are sent when they are due, whether or not earlier ones are answered, and timed from then on. */
export async function playSizing({ base, reads, writes, seconds }: SizingOrder): Promise<SizingFigures> {
  const idle: Lane[] = [];
  const pending = new Set<Promise<void>>();
  const times: Record<'read' | 'write', number[]> = { read: [], write: [] };
  let lost = 0;

  async function ask(method: string, path: string, body?: unknown): Promise<string> {
    const lane = idle.pop() ?? (await openLane(base));
    const reply = await lane.ask(method, path, body);
    idle.push(lane);
    if (reply.status !== 200) throw new Error(`${reply.status}`);
    return reply.body;
  }
  const threads: string[] = [];
  while (threads.length < THREADS) {
    const { thread_id: id } = JSON.parse(await ask('POST', '/threads', {})) as { thread_id: string };
    await ask('POST', `/threads/${id}/runs/wait`, { assistant_id: 'agent', input });
    threads.push(id);
  }
  const read = (count: number): Promise<string> => {
    const thread = `/threads/${threads[count % THREADS]}`;
    switch (count % 4) {
      case 0:
        return ask('GET', `${thread}/state`);
      case 1:
        return ask('GET', `${thread}/runs?limit=10`);
      case 2:
        return ask('GET', thread);
      default:
        return ask('POST', '/threads/search', { limit: 10 });
    }
  };
  const write = async (): Promise<void> => {
    const body = await ask('POST', '/runs/wait', { assistant_id: 'second', input });
    if (!body.includes('"messages"')) throw new Error(body);
  };
  function send(kind: 'read' | 'write', due: number, request: () => Promise<unknown>): void {
    const done = request().then(
      () => void times[kind].push(performance.now() - due),
      () => void (lost += 1),
    );
    pending.add(done);
    void done.finally(() => pending.delete(done));
  }

  const began = performance.now();
  const sent = { read: 0, write: 0 };
  const dueBy = (rate: number): number =>
    Math.min(rate * seconds, Math.floor(((performance.now() - began) / 1000) * rate));
  while (sent.read < reads * seconds || sent.write < writes * seconds) {
    for (; sent.read < dueBy(reads); sent.read++) {
      const { read: count } = sent;
      send('read', began + (count * 1000) / reads, () => read(count));
    }
    for (; sent.write < dueBy(writes); sent.write++)
      send('write', began + (sent.write * 1000) / writes, write);
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(pending);
  for (const lane of idle) lane.close();
  return {
    readP99: percentile(times.read, 0.99),
    writeP99: percentile(times.write, 0.99),
    sent: sent.read + sent.write,
    lost,
    seconds: (performance.now() - began) / 1000,
  };
}
