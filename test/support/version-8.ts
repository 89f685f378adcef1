/** A log's file as version 8 of it wrote one, and what was saved in it. */
import { readFileSync } from 'node:fs';
import type { PayloadWrite } from '../../src/log/payloads.ts';
import type { Connection } from '../../src/log/sqlite/connection.ts';

export const THREAD = '01a1fda6-ebaa-7000-ac96-edd05267eb24';

const id = (kind: string, n: number): string =>
  `${kind}${String(n).padStart(7, '0')}-0000-7000-8000-00000000000${n % 10}`;
const words = (n: number): string => `message ${n} says ${`a number of things like ${n * 7919} `.repeat(9)}`;

/** Turns of a graph with messages: input, a step, its answer, of which the last is not there yet. */
export function conversation(): PayloadWrite[] {
  const list: unknown[] = [];
  const writes: PayloadWrite[] = [];
  let count = 0;
  const save = (runId: string, source: string, channels: Record<string, unknown>): void => {
    const version = (back: number): string => `${String(count - back).padStart(10, '0')}.${'AbCdEfGhIjKl'}`;
    count += 1;
    const versions = { __start__: version(source === 'input' ? 0 : 1), messages: version(0) };
    writes.push({
      ...{ kind: 'checkpoint', threadId: THREAD, runId },
      checkpoint: {
        ...{ ns: '', checkpointId: id('c', count), parentId: count === 1 ? null : id('c', count - 1) },
        body: JSON.stringify({ v: 4, id: id('c', count), channel_versions: versions, versions_seen: {} }),
        metadata: { source, step: count, run_id: runId, thread_id: THREAD },
        channelVersions: versions,
        valueChannels: ['messages'],
        blobs: Object.entries(channels).map(([channel, value]) => ({
          ...{ channel, version: versions[channel as keyof typeof versions] },
          data: JSON.stringify(value),
        })),
      },
    });
  };
  const write = (runId: string, value: unknown): number =>
    writes.push({
      ...{ kind: 'checkpoint-writes', threadId: THREAD, runId, ns: '', checkpointId: id('c', count) },
      writes: [
        { taskId: id('7', count), idx: 0, channel: 'messages', data: JSON.stringify([value]) },
        { taskId: id('7', count), idx: 1, channel: 'branch:to:reply', data: 'null' },
      ],
    });
  for (let turn = 0; turn < 3; turn++) {
    const runId = turn === 1 ? 'a run of a plain name' : id('a', turn);
    const question = { role: 'user', content: words(2 * turn) };
    save(runId, 'input', { __start__: { messages: [question] } });
    write(runId, question);
    list.push({ ...question, id: `q${turn}` });
    save(runId, 'loop', { messages: list });
    write(runId, { role: 'ai', content: words(2 * turn + 1) });
    list.push({ role: 'ai', content: words(2 * turn + 1), id: `a${turn}` });
    save(runId, 'loop', { messages: list });
  }
  return writes;
}

/** Into an empty file. */
export function writeVersion8(db: Connection): void {
  db.exec(readFileSync(new URL('../fixtures/version-8.sql', import.meta.url), 'utf8'));
  db.pragma(`application_id = ${0x7468776c}`);
  db.pragma('user_version = 8');
}
