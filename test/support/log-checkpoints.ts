import assert from 'node:assert/strict';
import type { EventLog } from '../../src/store/port/log.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import type { CheckpointStore } from '../../src/graphs/port.ts';
import { batch } from './batches.ts';

/** The server's store of a thread's checkpoints, without the leases that guard it there. */
export function logCheckpoints(log: EventLog, threadId: string): CheckpointStore {
  const commit = async (...payloads: PayloadWrite[]): Promise<void> => {
    const { kind } = await log.commit(batch([], { payloads }));
    assert.equal(kind, 'committed');
  };
  return {
    load: (ns, checkpointId) => log.payloads.checkpoint(threadId, ns, checkpointId),
    list: (query) => log.payloads.checkpoints(threadId, query),
    save: (checkpoint) => commit({ kind: 'checkpoint', threadId, runId: 'run', checkpoint }),
    saveWrites: (ns, checkpointId, writes) =>
      commit({ kind: 'checkpoint-writes', threadId, runId: 'run', ns, checkpointId, writes }),
  };
}
