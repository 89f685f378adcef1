/**
 * Adds messages to the state of a stopped run without calling graph code: a checkpoint of source `update` whose `next` is
 * that of the head, so that the next run executes the stopped nodes again.
 *
 * Messages of tasks that had finished beside the stopped ones are added too: pending writes belong to one checkpoint.
 */
import type { Ids } from '../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { flatten, tagged } from '../kernel/tagged.ts';
import { parseBody } from './function/checkpoint-body.ts';
import { laterId } from './function/journal.ts';
import type { LoadedCheckpoint, NewCheckpoint, PendingWrite } from './port.ts';
import { isNote } from './state-port.ts';
import { nextVersion } from './versions.ts';

const MESSAGES = 'messages';
/** Metadata of checkpoints with delta channels: `[updates, supersteps]` by channel since the last whole value. */
const DELTA_COUNTERS = 'counters_since_delta_snapshot';

export interface Kept {
  readonly checkpoint: NewCheckpoint;
  /** Writes on the head, for a channel whose values are spread over checkpoints. */
  readonly writes: readonly PendingWrite[];
}

/** Returns undefined if the state has no list of messages, or has all of these already. */
export function keepMessages(
  head: LoadedCheckpoint,
  streamed: readonly JsonObject[],
  ids: Ids,
): Kept | undefined {
  // A plain function's messages are in its state when they are streamed.
  if (!head.valueChannels.includes(MESSAGES) || parseBody(head.body) !== undefined) return undefined;
  const blob = head.blobs.find(({ channel }) => channel === MESSAGES);
  const stored: Json = blob === undefined ? [] : (JSON.parse(blob.data) as Json);
  if (!Array.isArray(stored)) return undefined;
  const written = head.writes
    .filter(({ taskId, channel }) => channel === MESSAGES && !isNote(channel) && taskId !== '')
    .flatMap(({ data }) => JSON.parse(data) as Json);
  const known = new Set([...stored, ...written].map(idOf));
  const added = streamed.filter(({ id }) => !known.has(id)).map((message) => tagged('message', message));
  if (added.length === 0) return undefined;

  const versions = Object.fromEntries(head.blobs.map(({ channel, version }) => [channel, version]));
  const body = JSON.parse(head.body) as JsonObject;
  const runtimeVersions = isObject(body['channel_versions']) ? body['channel_versions'] : {};
  const newest = [...Object.values(versions), ...Object.values(runtimeVersions).map(String)].sort().at(-1);
  const version = nextVersion(newest, ids);
  const checkpointId = laterId(ids, head.checkpointId);
  const step = (typeof head.metadata['step'] === 'number' ? head.metadata['step'] : -1) + 1;
  const counters = head.metadata[DELTA_COUNTERS];
  const isDelta = blob === undefined && isObject(counters) && Object.hasOwn(counters, MESSAGES);
  return {
    checkpoint: {
      ...{ ns: '', checkpointId, parentId: head.checkpointId, step, source: 'update' },
      body: JSON.stringify({
        ...body,
        id: checkpointId,
        channel_versions: { ...runtimeVersions, [MESSAGES]: version },
      }),
      metadata: {
        ...head.metadata,
        ...{ source: 'update', step },
        ...(isObject(counters) && { [DELTA_COUNTERS]: advance(counters, isDelta) }),
      },
      channelVersions: isDelta ? versions : { ...versions, [MESSAGES]: version },
      blobs: isDelta
        ? []
        : [{ channel: MESSAGES, version, data: JSON.stringify([...stored, ...written, ...added]) }],
      valueChannels: head.valueChannels,
    },
    writes: isDelta ? [{ taskId: ids.uuid(), idx: 0, channel: MESSAGES, data: JSON.stringify(added) }] : [],
  };
}

const idOf = (message: Json): Json | undefined => {
  const flat = flatten(structuredClone(message));
  return isObject(flat) ? flat['id'] : undefined;
};

const advance = (counters: JsonObject, isDelta: boolean): JsonObject =>
  Object.fromEntries(
    Object.entries(counters).map(([channel, count]) => {
      const [updates, supersteps] = count as [number, number];
      return [channel, [updates + (isDelta && channel === MESSAGES ? 1 : 0), supersteps + 1]];
    }),
  );
