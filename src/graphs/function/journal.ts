/** Saves the chain of checkpoints of one plain function call. */
import type { Ids } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Attempt } from '../attempt.ts';
import type { RunOrder } from '../port.ts';
import { toCheckpointMetadata } from '../run-config.ts';
import { nextVersion } from '../versions.ts';
import { toBody, type CallRecord } from './checkpoint-body.ts';
import type { Head } from './plan.ts';
import type { Applied } from './values.ts';

export interface StagedCheckpoint extends Applied {
  readonly step: number;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly metadata: JsonObject;
  write(): Promise<void>;
}

export interface Journal {
  /** The call record as of the last staged checkpoint. */
  readonly record: CallRecord;
  /** The last staged checkpoint, which gets the call's pending writes. */
  readonly headId: string;
  /** The step of the last staged checkpoint. */
  readonly step: number;
  /** False once the newest checkpoint is an update of the function. */
  readonly unfinished: boolean;
  /** `input` begins a call, `update` is a client's change within it. Throws `UnstorableValue`. */
  stage(update: Record<string, unknown>, source: 'input' | 'update' | 'loop'): StagedCheckpoint;
  /** Saves an empty checkpoint that marks the call as finished. */
  close(): Promise<void>;
}

export function openJournal(
  order: RunOrder,
  head: Head,
  continued: { readonly record: CallRecord; readonly unfinished: boolean } | undefined,
  { store, meter }: Pick<Attempt, 'store' | 'meter'>,
  ids: Ids,
): Journal {
  const { values } = head;
  const metadata = toCheckpointMetadata(order);
  let { checkpointId: parentId, newestId, step } = head;
  let record: CallRecord = continued?.record ?? { input: '', done: 0, answers: [], patches: [] };
  let unfinished = continued?.unfinished ?? true;

  const stage: Journal['stage'] = (update, source) => {
    const checkpointId = laterId(ids, newestId);
    const applied = values.apply(update, nextVersion(Object.values(values.versions).sort().at(-1), ids));
    if (source === 'input') record = { input: checkpointId, done: 0, answers: [], patches: [] };
    if (source === 'loop') record = { ...record, done: record.done + 1 };
    unfinished = source !== 'loop';
    step += 1;
    const checkpoint = {
      ns: '',
      checkpointId,
      parentId,
      body: toBody({ runId: order.runId, record }),
      metadata: { ...metadata, source, step, parents: {} },
      channelVersions: values.versions,
      blobs: applied.blobs,
      valueChannels: values.names,
      step,
      source,
      usage: meter.usage(),
    };
    const staged = { checkpointId, parentId, metadata: checkpoint.metadata };
    parentId = newestId = checkpointId;
    return { step, write: () => store.save(checkpoint), ...applied, ...staged };
  };

  return {
    get record() {
      return record;
    },
    get headId() {
      if (parentId === null) throw new Error('The call has no checkpoint yet');
      return parentId;
    },
    get step() {
      return step;
    },
    get unfinished() {
      return unfinished;
    },
    stage,
    close: () => stage({}, 'loop').write(),
  };
}

/** An id greater than `newest`, which the head must have. UUIDs of the same millisecond are not ordered. */
export function laterId(ids: Ids, newest: string | null): string {
  const id = ids.uuid();
  if (newest === null || id > newest) return id;
  const tail = (BigInt(`0x${newest.slice(-12)}`) + 1n).toString(16).padStart(12, '0');
  return newest.slice(0, -12) + tail.slice(-12);
}
