/**
 * Records one attempt at a run: environment, versions, the checkpoints it starts from, what the item store answers, and
 * everything that the interceptors of `recording/` see.
 *
 * A4 Secrets that are known when the run begins are replaced by stand-ins in everything that is recorded.
 */
import { isDeepStrictEqual } from 'node:util';
import { breathe } from '../kernel/breathe.ts';
import type { Json } from '../kernel/json.ts';
import { PRODUCT, VERSION } from '../kernel/product.ts';
import { SERVER_URL } from '../kernel/server-address.ts';
import { keptEnvironment } from '../recording/environment.ts';
import { environmentSecrets, knownSecrets, type EnvironmentSecrets } from '../recording/known-secrets.ts';
import { openMasks, type Masks } from '../recording/masks.ts';
import { moduleSeed } from '../recording/module-loading.ts';
import type { RecordingOrder } from '../recording/order.ts';
import type { StartPart } from '../recording/parts.ts';
import { toFailure } from '../recording/replies.ts';
import { openRecorder, type Recorder } from '../recording/recorder.ts';
import { findLibraries } from './library-versions.ts';
import type { LoadedCheckpoint, RunLink, RunOrder } from './port.ts';

export interface RecordedRun {
  readonly recorder: Recorder;
  readonly link: RunLink;
}

export interface RecordedRunOptions {
  readonly order: RunOrder;
  readonly recording: RecordingOrder;
  readonly link: RunLink;
  /** Absolute path of the graph's file. */
  readonly file: string;
  readonly now: () => number;
}

export function recordRun({ order, recording, link, file, now }: RecordedRunOptions): RecordedRun {
  const { attempt } = order;
  const { env, ofEnvironment, masks: ownMasks } = surroundings();
  const { pairs, secrets } = knownSecrets({ ...order, ...order.config, env }, ofEnvironment);
  const masks = pairs.size === ofEnvironment.pairs.size ? ownMasks : openMasks(pairs);
  const recorder = openRecorder({
    ...{ attempt, seed: recording.seed, maxBytes: recording.maxBytes, now, masks },
    // A refused part also refuses the attempt's checkpoints, which ends it with that error.
    write: (part) => void link.record(part).catch(() => undefined),
  });
  const server = (globalThis as { [SERVER_URL]?: string })[SERVER_URL];
  recorder.add({
    ...{ kind: 'start', attempt, seed: recording.seed, moduleSeed, at: now() },
    env: keptEnvironment(env, secrets.env, recording.env),
    ...(server !== undefined && { server }),
    ...(order.observe && { observed: true }),
    ...(!order.isUnnoted && { noted: true }),
    secrets,
    versions: versionsFor(file),
  });
  return { recorder, link: recordReads(link, recorder, attempt) };
}

function recordReads(link: RunLink, recorder: Recorder, attempt: number): RunLink {
  const { checkpoints, store } = link;
  const saved = new Set<string>();
  const noted = new Set<string>();
  const note = (ns: string, asked: string | undefined, found: LoadedCheckpoint | undefined): void => {
    const key = JSON.stringify([ns, asked]);
    // What the attempt saved itself, re-execution saves again.
    if (noted.has(key) || (found !== undefined && saved.has(found.checkpointId))) return;
    noted.add(key);
    recorder.add({
      ...{ kind: 'loaded', attempt, ns, checkpointId: found?.checkpointId ?? null },
      ...(asked !== undefined && { asked }),
      writes: (found?.writes ?? []) as unknown as Json[],
    });
  };
  return {
    ...link,
    checkpoints: {
      async load(ns, checkpointId, choice) {
        const found = await checkpoints.load(ns, checkpointId, choice);
        note(ns, checkpointId, found);
        return found;
      },
      list: (query) => checkpoints.list(query),
      save(checkpoint) {
        saved.add(checkpoint.checkpointId);
        return checkpoints.save(checkpoint);
      },
      saveWrites: (ns, id, writes) => checkpoints.saveWrites(ns, id, writes),
    },
    store: {
      async batch(requests) {
        const batch = recorder.store(requests);
        try {
          const answers = await store.batch(requests);
          await breathe();
          batch.answered(answers as unknown as Json[]);
          return answers;
        } catch (error) {
          await breathe();
          batch.failed(toFailure(error));
          throw error;
        }
      },
    },
  };
}

const versions = new Map<string, StartPart['versions']>();

/** Versions of this program, Node and the libraries that the project of `file` uses: those that the process has loaded. */
function versionsFor(file: string): StartPart['versions'] {
  let known = versions.get(file);
  if (known === undefined) {
    known = { [PRODUCT]: VERSION, node: process.versions.node, ...findLibraries([file]) };
    versions.set(file, known);
  }
  return known;
}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ofEnvironment: EnvironmentSecrets;
  readonly masks: Masks;
}

let last: Surroundings | undefined;

/** Secrets and masks of the process's environment: made anew when graph code has changed it. */
function surroundings(): Surroundings {
  const env = { ...process.env };
  if (last !== undefined && isDeepStrictEqual(env, last.env)) return last;
  const ofEnvironment = environmentSecrets(env);
  last = { env, ofEnvironment, masks: openMasks(ofEnvironment.pairs) };
  return last;
}
