/** Makes the order of an attempt of what the log keeps for it. */
import { orderOf, type OrderedRun } from '../graphs/run-order.ts';
import type { RunOrder } from '../graphs/port.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import { parseSecret } from '../thread/secret.ts';
import type { Usage } from '../thread/usage.ts';
import { callsOf, notedBy, type ResumeCalls } from './kept-calls.ts';
import type { Opening } from './opening.ts';
import type { Patience } from '../store/port/patience.ts';
import { recordingOf, type RecordingSettings } from './run-recording.ts';
import { inputOf } from './unsaved-input.ts';

/** The state of the run that an attempt continues from. */
export interface Start {
  readonly resume: boolean;
  readonly charges: number;
  readonly head: string | null;
  readonly used: Usage | undefined;
  readonly secret: Opening['secret'];
}

export interface OrderOptions {
  readonly log: EventLog;
  readonly ids: Ids;
  /** Absent: no run is recorded. */
  readonly recording?: RecordingSettings;
  /** X7 Whether runs whose config does not say keep what they are answered; they do by default. */
  readonly resumeCalls?: ResumeCalls;
  /** Runs are observed, for developers. */
  readonly isDevelopment?: boolean;
}

/** Rejects when something of it cannot be read. */
export async function makeOrder(
  run: OrderedRun,
  { resume, charges, head, used, secret }: Start,
  { log, ids, ...options }: OrderOptions,
  patiently: Patience,
): Promise<RunOrder> {
  const input = await patiently(() => inputOf(log, run, head));
  const recording = await patiently(() => recordingOf(run, options.recording, log, ids));
  const calls = await patiently(() => callsOf(run, options.resumeCalls ?? true, charges, log, ids));
  return {
    ...orderOf(run, resume, input, parseSecret(await patiently(secret)), recording),
    ...(calls && { calls }),
    ...(options.isDevelopment && { observe: true as const }),
    ...(used && { used }),
    ...(run.attempt > 1 && { noted: await patiently(() => notedBy(run.runId, log)) }),
  };
}
