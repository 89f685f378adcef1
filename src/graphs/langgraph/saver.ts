/**
 * The checkpoint saver of one attempt for LangGraph.js, backed by the server's `CheckpointStore`. It matches the library's
 * `BaseCheckpointSaver` by shape, so any copy of the library accepts it.
 *
 * X2 A refused write ends the attempt through `fail`. It must not reject into the runtime, which handles failed saves
 *    late: the unhandled rejection would end the Node process.
 */
import type { Json, JsonObject } from '../../kernel/json.ts';
import { currentSession } from '../../recording/session.ts';
import { encode } from '../codec.ts';
import { LocatedFailure, shortenNote } from '../failure.ts';
import { listInPieces } from '../history-pages.ts';
import type { PendingWrite } from '../port.ts';
import { ERROR, INTERRUPT, RESUME } from '../state-port.ts';
import { UnstorableValue } from '../shapes.ts';
import { toWire } from '../wire.ts';
import { openCheckpointForm, type FormOptions } from './checkpoint-form.ts';
import { openResumeNotes, rootTaskOf, usesResumeValue } from './resume-notes.ts';
import { readDeltaHistory } from './delta-history.ts';
import { isOnlyHeld, withoutHold } from './held-breakpoints.ts';
import { openLastCheckpoint } from './last-checkpoint.ts';
import type { Observer } from './observer.ts';
import type { AttemptStore } from '../attempt.ts';
import { isIn, namespaceIn } from './other-threads.ts';
import type { Usage } from '../../thread/usage.ts';
import type { Checkpoint, Saver, SaverConfig, TaskWrites, Write } from './saver-contract.ts';
import { stepVersions } from './step-versions.ts';

export interface SaverOptions extends FormOptions {
  readonly store: AttemptStore;
  /** Called when a root checkpoint is put (step-ends.ts). */
  readonly openStepEnd?: () => () => number;
  readonly usage?: () => Usage | undefined;
  /** Called after a checkpoint of the run was put. */
  readonly stepped?: (() => void) | undefined;
  readonly runId: string;
  /** The channels that form the state of the root graph. */
  readonly valueChannels: readonly string[];
  /** Values that root checkpoints have of channels without a version. */
  readonly deltaDefaults?: Readonly<Record<string, unknown>>;
  readonly fail: (error: unknown) => void;
  /** Called with the channels that a task wrote to. */
  readonly wrote?: Observer['wrote'] | undefined;
  /** The stack of a failure of a root node whose own stack does not show the node. */
  readonly stackOf?: (node: string) => string | undefined;
}

const MAX_RECENT_TASKS = 100;

/** Indices of special channels, whose writes replace each other; other writes have their index in the task's list. */
const FIXED_INDEX: ReadonlyMap<string, number> = new Map([
  [ERROR, -1],
  ['__scheduled__', -2],
  [INTERRUPT, -3],
  [RESUME, -4],
]);

export function openSaver(options: SaverOptions): Saver {
  const { threadId, store, ids } = options;
  const { locate, toTuple, toBlobs } = openCheckpointForm(options);
  const last = openLastCheckpoint();
  let hasFailed = false;
  const refuse = (error: unknown): void => {
    hasFailed = true;
    options.fail(error);
  };
  const given: Write[] = [];
  const recent: TaskWrites[] = [];
  const notes = openResumeNotes(options.runId);
  /** The id of the root checkpoint that was read last; tasks start from it until one is saved. */
  let read: string | undefined;

  const save = async (
    config: SaverConfig,
    checkpoint: Checkpoint,
    metadata: Record<string, unknown>,
    changed: Record<string, string | number>,
  ): Promise<void> => {
    const { ns } = namespaceIn(threadId, config);
    const parentId = config.configurable?.checkpoint_id ?? null;
    const { channel_values: values, ...body } = checkpoint;
    // Without this mark of the runtime, a channel without a version may have writes on the ancestors.
    const isVersioned = ns === '' && metadata['delta_writes_versioned'] === true;
    const unwritten = Object.entries(isVersioned ? (options.deltaDefaults ?? {}) : {}).filter(
      ([channel]) => !Object.hasOwn(checkpoint.channel_versions, channel),
    );
    const shown = { ...checkpoint, channel_values: { ...Object.fromEntries(unwritten), ...values } };
    const runtime = toWire(metadata) as { source?: string; step?: number; [key: string]: Json | undefined };
    const { source = 'loop', step = -1, parents = {} } = runtime;
    const stored = { ...runtime, ...options.metadata, source, step, parents } as JsonObject;
    if (ns === '') last.saved({ config, checkpoint, metadata: stored, parentId });
    const saved = {
      ...{ ns, checkpointId: checkpoint.id, parentId, body: encode(body), metadata: stored, step, source },
      ...toBlobs(ns, shown, changed),
      ...(ns === '' && { usage: options.usage?.() }),
      valueChannels: ns === '' ? options.valueChannels : Object.keys(values).filter(isStateChannel),
    };
    await store.save(saved, ns === '' ? options.openStepEnd?.() : undefined);
  };

  const saver: Saver = {
    async get(config) {
      return (await saver.getTuple(config))?.checkpoint;
    },
    async getTuple(config) {
      currentSession()?.taskOf(config);
      const { ns } = namespaceIn(threadId, config);
      const id = config.configurable?.checkpoint_id;
      const loaded = await store.load(ns, id === '' ? undefined : id);
      if (loaded !== undefined) notes.read(loaded);
      if (ns === '') read = loaded?.checkpointId;
      const tuple = loaded && (await toTuple(config, loaded));
      if (ns === '' && !id) tuple?.pendingWrites.push(...given);
      return tuple;
    },
    async *list(config, { limit, before, filter } = {}) {
      const { checkpoint_ns: asked, checkpoint_id: id } = config.configurable ?? {};
      const place = namespaceIn(threadId, config);
      const ns = asked === undefined ? undefined : place.ns;
      const older = before?.configurable?.checkpoint_id;
      if (id !== undefined && ns !== undefined && older === undefined && filter === undefined) {
        const loaded = await store.load(ns, id);
        if (loaded !== undefined) yield toTuple(config, loaded);
        return;
      }
      const found = listInPieces(store, {
        ...(ns !== undefined && { ns }),
        ...(older !== undefined && { before: older }),
        ...(limit !== undefined && id === undefined && ns !== undefined && { limit }),
        ...(filter !== undefined && { metadata: filter }),
      });
      let left = limit ?? Infinity;
      for await (const loaded of found) {
        if (left <= 0) return;
        if ((id !== undefined && loaded.checkpointId !== id) || !isIn(place.prefix, loaded.ns)) continue;
        left -= 1;
        yield toTuple(config, loaded);
      }
    },
    async put(config, checkpoint, metadata, newVersions) {
      const isHeld = isOnlyHeld(checkpoint, config.configurable?.checkpoint_id);
      if (isHeld || hasFailed) return locate(config, checkpoint.id);
      try {
        await save(config, withoutHold(checkpoint), metadata, newVersions);
      } catch (error) {
        refuse(error);
      }
      if (metadata['source'] === 'loop') options.stepped?.();
      return locate(config, checkpoint.id);
    },
    async putWrites(config, writes, taskId, taskPath = '') {
      const { called, ns, prefix } = namespaceIn(threadId, config);
      const checkpointId = config.configurable?.checkpoint_id;
      const node = nodeOf(taskPath);
      if (checkpointId === undefined)
        throw new Error('Writes belong to a checkpoint: checkpoint_id is missing');
      const channels = writes.map(([channel]) => channel);
      if (prefix === '') options.wrote?.({ ns, taskId, node }, channels);
      if (prefix === '' && node !== undefined)
        if (recent.push({ ns, checkpointId, node, channels }) > MAX_RECENT_TASKS) recent.shift();
      try {
        const key = { taskId, ...(taskPath !== '' && { taskPath }) };
        const placed = writes.map(([channel, value], index) => ({
          ...key,
          idx: FIXED_INDEX.get(channel) ?? index,
          ...{ channel, value },
        }));
        if (ns === '') last.wrote(checkpointId, placed);
        const stored = placed.map(({ value, ...write }): PendingWrite => ({
          ...write,
          data: encode(write.channel === ERROR ? shortenNote(value) : value, write.channel),
        }));
        // Resumes in a thread that graph code created itself (`prefix`) are not resumes of this run.
        const isResumed = prefix === '' && usesResumeValue(taskId, writes);
        if (isResumed) stored.push(notes.resumed(ns, taskId));
        const saved = [store.saveWrites(ns, checkpointId, stored)];
        const root = last.id ?? read;
        // Both writes are issued synchronously, so they share a commit; a repeated run reads the note at the root.
        if (isResumed && ns !== '' && root !== undefined)
          saved.push(store.saveWrites('', root, [notes.resumed(ns, taskId, { taskId: rootTaskOf(called) })]));
        await Promise.all(saved);
      } catch (error) {
        refuse(
          error instanceof UnstorableValue && node !== undefined
            ? new LocatedFailure(error, { node, ...toStack(ns === '' ? options.stackOf?.(node) : undefined) })
            : error,
        );
      }
    },
    async deleteThread() {
      throw new Error('A graph cannot delete its thread');
    },
    getNextVersion: stepVersions(ids),
    getDeltaChannelHistory: ({ config, channels }) => readDeltaHistory(saver, config, channels),
    toJSON: () => '[checkpoint saver]',
    give: (taskId, value) => void given.push([taskId, RESUME, [value]]),
    recentTasks: () => recent,
    lastTuple: () => last.tuple(locate),
  };
  return saver;
}

const toStack = (stack: string | undefined) => (stack === undefined ? {} : { stack });

/** The node in a task's path; undefined if the path has none. */
const nodeOf = (taskPath: string): string | undefined => /^~__pregel_pull, (.+)$/s.exec(taskPath)?.[1];

/** True for channels of a subgraph's state. Its schema is not available here, so only runtime channels are excluded. */
const isStateChannel = (channel: string): boolean => !channel.startsWith('__') && !channel.includes(':');
