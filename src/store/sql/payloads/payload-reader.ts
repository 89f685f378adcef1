/** Reads what is committed of payloads. */
import { matchesFilter } from '../../../kernel/filter.ts';
import { isObject } from '../../../kernel/json.ts';
import type { JsonText } from '../../../kernel/json-text.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import { startTurn } from '../../../kernel/turn.ts';
import type { ChannelText, PayloadReader, PayloadWrite, StoredCheckpoint } from '../../port/payloads.ts';
import type { Run, Work, WorkContext } from '../work.ts';
import { readBody, readRequest } from './bodies.ts';
import {
  findCheckpoint,
  findLastFrameAt,
  openCheckpoint,
  readCheckpoint,
  readCheckpoints,
  readValues,
  type PayloadSource,
} from './checkpoint-reads.ts';
import { lastFrameId, readFrames, readNamedFrames } from './frame-reads.ts';
import { createHeldValues, type HeldValues } from './held-values.ts';
import { readLastConfig } from './last-config.ts';
import { readResume } from './resume-calls.ts';
import { readCalls, readRecording, readUntracked } from './run-contents.ts';
import { readCronSecret, readSecret } from './secrets.ts';
import { shownValues } from './shown-values.ts';
import { readText } from './text-rows.ts';
import { readOutline, readStorage } from './thread-storage.ts';

type Checkpoint = Parameters<PayloadReader['checkpoint']>;

/** Each answer is of one moment. `held`: texts of the log's own writer. */
export function createPayloadReader(
  context: WorkContext,
  run: Run,
  {
    heldValues = createHeldValues(),
    ...more
  }: Pick<PayloadSource, 'held'> & { heldValues?: HeldValues } = {},
): PayloadReader {
  const source = { context, ...more };
  // Another writer may have saved a later checkpoint or deleted this one; values of a checkpoint never change.
  const fresh = context.shared === undefined ? source : { context };

  function* find(...[threadId, ns, checkpointId, choice]: Checkpoint): Work<StoredCheckpoint | undefined> {
    const row = yield* findCheckpoint(fresh, threadId, ns, checkpointId);
    return row && (yield* readCheckpoint(fresh, threadId, row, choice));
  }

  function* valuesOf(threadId: string, checkpointId: string): Work<JsonText | undefined> {
    const row = yield* findCheckpoint(source, threadId, '', checkpointId);
    if (row === undefined) return undefined;
    const key = `${row.id} ${threadId} ${checkpointId}`;
    const known = heldValues.of(key);
    if (known !== undefined) return known;
    const { versions, valueChannels } = openCheckpoint(row, yield* readText(context, 'texts', row));
    const texts = yield* readValues(source, threadId, '', versions, valueChannels);
    const values = show(checkpointId, valueChannels, texts);
    heldValues.hold(key, values);
    return values;
  }

  function* valuesIn(
    writes: readonly PayloadWrite[],
    threadId: string,
    checkpointId: string,
  ): Work<JsonText | undefined> {
    const saved = writes.flatMap((write) =>
      write.kind === 'checkpoint' && write.checkpoint.ns === '' ? [write.checkpoint] : [],
    );
    const checkpoint = saved.findLast((each) => each.checkpointId === checkpointId);
    if (checkpoint === undefined) return yield* valuesOf(threadId, checkpointId);
    const { channelVersions: versions, valueChannels } = checkpoint;
    const apart = writes.flatMap((write) =>
      write.kind === 'channel-values' && write.ns === '' ? write.values : [],
    );
    const given = new Map(
      [...apart, ...saved.flatMap(({ blobs }) => blobs)]
        .filter(({ channel, version }) => version === versions[channel])
        .reverse()
        .map((text) => [text.channel, text]),
    );
    const stored = yield* readValues(
      ...([source, threadId, '', versions] as const),
      valueChannels.filter((name) => !given.has(name)),
    );
    const all = new Map([...given, ...stored.map((text) => [text.channel, text] as const)]);
    return show(
      checkpointId,
      valueChannels,
      valueChannels.flatMap((name) => all.get(name) ?? []),
    );
  }

  return {
    checkpoint: (...of) => run(find(...of)),
    checkpoints: (threadId, filter) => readCheckpoints(context, run, threadId, filter),
    outline: (threadId) => run(readOutline(context, threadId)),
    storage: (threadId) => run(readStorage(threadId)),
    lastConfig: (threadId) => run(readLastConfig(context, threadId)),
    values: (threadId, checkpointId, writes = []) => run(valuesIn(writes, threadId, checkpointId)),
    async containing(heads, wanted) {
      const matches: string[] = [];
      const turn = startTurn();
      for (const { threadId, checkpointId } of heads) {
        const values = (await run(valuesOf(threadId, checkpointId)))?.parse();
        if (isObject(values) && matchesFilter(values, wanted)) matches.push(threadId);
        await turn();
      }
      return matches;
    },
    frames: (runId, after, limit) => run(readFrames(context, runId, after, limit)),
    framesNamed: (runId, name) => run(readNamedFrames(context, runId, name)),
    lastFrame: (runId) => run(lastFrameId(runId)),
    lastFrameAt: (of, checkpointId) => run(findLastFrameAt(context, of, checkpointId)),
    untracked: (runId) => run(readUntracked(context, runId)),
    recording: (runId, limit) => run(readRecording(context, runId, limit)),
    calls: (runId) => run(readCalls(context, runId)),
    resume: (runId) => run(readResume(context, runId)),
    secret: (runId) => run(readSecret(context, runId)),
    cronSecret: (cronId) => run(readCronSecret(context, cronId)),
    body: (deliveryId) => run(readBody(context, deliveryId)),
    request: (key) => run(readRequest(key)),
  };
}

const show = (checkpointId: string, names: readonly string[], values: readonly ChannelText[]): JsonText =>
  shownValues(names, values, (text) => fromStored(text, 'part of checkpoint', checkpointId));
