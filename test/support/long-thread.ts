/** A thread of any number of events, laid down in a few commits. */
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { threadStream, type ThreadEvent } from '../../src/thread/events.ts';
import { batch, committed } from './batches.ts';
import { fact } from './given.ts';
import type { TestServer } from './with-server.ts';

const RUN_EVENTS = 20;
const COMMIT_RUNS = 100;

const idOf = (prefix: string, number: number): string =>
  `${prefix}-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** Its runs save a step each, among facts that save none. `prefix`: the ids' first eight digits. */
export async function layLongThread(s: TestServer, prefix: string, count: number): Promise<string> {
  const { log } = s.server;
  const threadId = idOf(prefix, 1);
  const stream = threadStream(threadId);
  committed(await log.commit(batch([{ stream, expected: 0, events: [fact.created({}, false, threadId)] }])));
  for (let version = 1; version < count;) {
    const events: ThreadEvent[] = [];
    const payloads: PayloadWrite[] = [];
    for (let run = 0; run < COMMIT_RUNS && version + events.length < count; run++) {
      const at = version + events.length;
      const runId = idOf(prefix, at);
      const checkpointId = idOf(prefix.replace(/^./, '1'), at);
      const facts = [
        fact.runCreated(runId, { graphId: 'echo' }),
        fact.started(runId),
        fact.saved(runId, checkpointId),
        ...Array.from({ length: RUN_EVENTS - 4 }, (_, index) => fact.updated({ index })),
        fact.completed(runId, { head: checkpointId }),
      ];
      events.push(...facts.map((each) => ({ ...each, data: { ...each.data, threadId } }) as ThreadEvent));
      payloads.push({
        ...{ kind: 'checkpoint', threadId, runId },
        checkpoint: {
          ...{ ns: '', checkpointId, parentId: null, body: '{"kind":"function"}', metadata: {} },
          valueChannels: ['count', 'fixed'],
          channelVersions: { count: checkpointId, fixed: '1' },
          blobs: [
            { channel: 'count', version: checkpointId, data: String(at) },
            ...(at === 1 ? [{ channel: 'fixed', version: '1', data: '"as ever"' }] : []),
          ],
        },
      });
    }
    committed(await log.commit(batch([{ stream, expected: version, events }], { payloads })));
    version += events.length;
  }
  return threadId;
}
