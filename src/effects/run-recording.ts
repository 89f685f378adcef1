/** Decides whether an attempt at a run is recorded, and with which seed. */
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { RecordingOrder } from '../recording/order.ts';
import type { RecordingPart } from '../recording/parts.ts';
import { unpackPart } from '../recording/unpack.ts';
import type { OrderedRun } from '../graphs/run-order.ts';

export interface RecordingSettings extends Omit<RecordingOrder, 'seed'> {
  /** Whether runs are recorded whose config does not say; undefined where the deployment does not say either. */
  readonly byDefault: boolean | undefined;
}

/** `recording` in the config of the run, or of its assistant, overrides the deployment's setting. */
export async function recordingOf(
  { kwargs, runId, attempt }: OrderedRun,
  settings: RecordingSettings | undefined,
  { payloads }: Pick<EventLog, 'payloads'>,
  ids: Pick<Ids, 'token'>,
): Promise<RecordingOrder | undefined> {
  if (settings === undefined) return undefined;
  const { byDefault, ...limits } = settings;
  const { recording = byDefault } = kwargs.config;
  if (recording !== true) return undefined;
  // All attempts draw from one seed: the log does not tell which of them a task's writes are of.
  const [start] = attempt > 1 ? await payloads.recording(runId, 1) : [];
  const known = start && read(start);
  return { ...limits, seed: known?.kind === 'start' ? known.seed : ids.token() };
}

/** An earlier version of the program may have recorded the first attempt, in another format. */
function read(part: Uint8Array): RecordingPart | undefined {
  try {
    return unpackPart(part);
  } catch {
    return undefined;
  }
}
