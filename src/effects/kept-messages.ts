/** Finds what a stopped run had streamed of its messages, as a checkpoint that is committed with the run's end. */
import { keepMessages, type Kept } from '../graphs/kept-messages.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { PayloadWrite, StoredFrame } from '../store/port/payloads.ts';
import { stoppedMessages } from '../protocol/stopped-messages.ts';
import type { Executing, ThreadCommand } from '../thread/decide.ts';
import type { RunKwargs, RunRef } from '../thread/events.ts';
import type { ThreadState } from '../thread/state.ts';

/** True for a run that is being cancelled and whose messages are to be kept: its request, or the run itself, says so. */
export const keepsMessages = (state: ThreadState, { onCancel }: Pick<RunKwargs, 'onCancel'>): boolean =>
  state.status === 'stopping' &&
  state.action === 'interrupt' &&
  (state.keep === 'messages' || onCancel === 'keep_messages');

/** Reads the frames of the last attempt; all of the attempt's writes must be in the log. */
export async function findKept(
  { payloads }: Pick<EventLog, 'payloads'>,
  { runId, threadId }: RunRef,
  ids: Ids,
): Promise<Kept | undefined> {
  const attempts = await payloads.framesNamed(runId, 'metadata');
  const since = attempts.at(-1)?.id ?? -1;
  const named = async (name: string): Promise<StoredFrame[]> =>
    (await payloads.framesNamed(runId, name)).filter(({ id }) => id > since);
  const messages = stoppedMessages({
    tuples: await named('messages'),
    partial: await named('messages/partial'),
    described: await named('messages/metadata'),
  });
  const head = messages.length === 0 ? undefined : await payloads.checkpoint(threadId, '');
  return head && keepMessages(head, messages, ids);
}

/** Commands and payloads that commit the checkpoint. */
export function writesOf(
  { checkpoint, writes }: Kept,
  threadId: string,
  executing: Executing,
  lastFrame: number,
): { commands: ThreadCommand[]; payloads: PayloadWrite[] } {
  const { runId } = executing;
  const { ns, checkpointId, parentId, step, source } = checkpoint;
  const at = { threadId, runId, ns, checkpointId: parentId! };
  return {
    commands: [{ type: 'SaveCheckpoint', ...executing, checkpointId, parentId, ns, step, source }],
    payloads: [
      ...(writes.length > 0 ? [{ kind: 'checkpoint-writes', ...at, writes } as const] : []),
      { kind: 'checkpoint', threadId, runId, checkpoint, lastFrame },
    ],
  };
}
