/**
 * The runtime's form of stored checkpoints. Bodies are stored without channel values, and channels as blobs.
 *
 * P3 A checkpoint stores the channels that changed since its parent and refers to the rest by version. A version is a
 *    counter with a random suffix, so forks and runs after a rollback never reuse a (channel, version) pair.
 */
import { toTimestamp } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { encode } from '../codec.ts';
import type { ChannelBlob, CheckpointReader, LoadedCheckpoint } from '../port.ts';
import { SENDS } from '../state-port.ts';
import { nextVersion } from '../versions.ts';
import { unwrapSnapshot } from './delta-history.ts';
import { holdBreakpoints } from './held-breakpoints.ts';
import { namespaceIn } from './other-threads.ts';
import { isForRuntime } from './resume-notes.ts';
import type { Checkpoint, CheckpointTuple, SaverConfig } from './saver-contract.ts';

export interface FormOptions {
  readonly threadId: string;
  readonly store: Pick<CheckpointReader, 'load'>;
  readonly decode: (text: string) => unknown;
  readonly ids: Ids;
  /** Metadata of every checkpoint of the run. */
  readonly metadata: JsonObject;
  /**
   * Checkpoints carry the time of their commit. The graph's process may have another clock, and clients compare states
   * with events, whose times are the server's.
   */
  readonly showsCommitTimes?: boolean;
}

export interface CheckpointForm {
  locate(config: SaverConfig, checkpointId: string | null): SaverConfig;
  toTuple(config: SaverConfig, loaded: LoadedCheckpoint): Promise<CheckpointTuple>;
  /** The blobs to store of a checkpoint, and the versions of all its channels. `changed`: the runtime's new versions. */
  toBlobs(
    ns: string,
    checkpoint: Checkpoint,
    changed: Record<string, string | number>,
  ): { blobs: ChannelBlob[]; channelVersions: Record<string, string> };
}

export function openCheckpointForm(options: FormOptions): CheckpointForm {
  const { threadId, store, decode, ids } = options;
  /** Blobs of values that the runtime gives no version, by namespace and channel. */
  const unversioned = new Map<string, Map<string, ChannelBlob>>();

  const locate: CheckpointForm['locate'] = (config, id) => ({
    configurable: {
      thread_id: config.configurable?.thread_id ?? threadId,
      checkpoint_ns: config.configurable?.checkpoint_ns ?? '',
      ...(id === null ? {} : { checkpoint_id: id }),
    },
  });

  /** Checkpoints older than format 4 store the `Send` packets of a step as writes of the parent. */
  async function addSends(ns: string, parentId: string, checkpoint: Checkpoint): Promise<void> {
    const parent = await store.load(ns, parentId);
    const sends = (parent?.writes ?? []).filter(({ channel }) => channel === SENDS);
    checkpoint.channel_values[SENDS] = sends.map(({ data }) => decode(data));
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[SENDS] = versions.sort().at(-1) ?? nextVersion(undefined, ids);
  }

  return {
    locate,
    async toTuple(config, loaded) {
      const { ns, checkpointId, parentId } = loaded;
      const { prefix } = namespaceIn(threadId, config);
      // A plain function's body lacks the runtime's fields, hence the defaults.
      const stored = decode(loaded.body) as Partial<Checkpoint>;
      const body: Omit<Checkpoint, 'channel_values'> = {
        v: 4,
        id: checkpointId,
        channel_versions: Object.fromEntries(loaded.blobs.map(({ channel, version }) => [channel, version])),
        versions_seen: {},
        ...stored,
        // Graph code can save checkpoints itself with any `ts`, so an invalid one is replaced.
        ts: options.showsCommitTimes !== true && isTime(stored.ts) ? stored.ts : toTimestamp(loaded.at),
      };
      const checkpoint: Checkpoint = {
        ...(body as Checkpoint),
        channel_values: Object.fromEntries(loaded.blobs.map(({ channel, data }) => [channel, decode(data)])),
      };
      const defaults = loaded.blobs.filter(
        ({ channel }) => !Object.hasOwn(checkpoint.channel_versions, channel),
      );
      unversioned.set(ns, new Map(defaults.map((blob) => [blob.channel, blob])));
      if (checkpoint.v < 4 && parentId !== null) await addSends(ns, parentId, checkpoint);
      const place = { configurable: { ...config.configurable, checkpoint_ns: ns.slice(prefix.length) } };
      return {
        config: locate(place, checkpointId),
        checkpoint: holdBreakpoints(checkpoint, loaded.metadata, options.metadata),
        metadata: loaded.metadata,
        ...(parentId === null ? {} : { parentConfig: locate(place, parentId) }),
        pendingWrites: loaded.writes
          .filter(isForRuntime)
          .map(({ taskId, channel, data }) => [taskId, channel, decode(data)]),
      };
    },
    toBlobs(ns, { channel_values: values, channel_versions: versions }, changed) {
      const blobs: ChannelBlob[] = [];
      const channelVersions = Object.fromEntries(
        Object.entries(versions).map(([channel, version]) => [channel, String(version)]),
      );
      const known = unversioned.get(ns) ?? new Map<string, ChannelBlob>();
      for (const [channel, value] of Object.entries(values)) {
        if (value === undefined) continue;
        const version = channelVersions[channel];
        if (version !== undefined) {
          if (Object.hasOwn(changed, channel))
            blobs.push({ channel, version, data: encode(unwrapSnapshot(value)) });
          continue;
        }
        // A channel's default value has no version but belongs to the state, so it gets a version here.
        const data = encode(unwrapSnapshot(value));
        let blob = known.get(channel);
        if (blob?.data !== data) {
          blob = { channel, version: nextVersion(undefined, ids), data };
          known.set(channel, blob);
          blobs.push(blob);
        }
        channelVersions[channel] = blob.version;
      }
      unversioned.set(ns, known);
      return { blobs, channelVersions };
    },
  };
}

const isTime = (text: unknown): text is string => typeof text === 'string' && !Number.isNaN(Date.parse(text));
