/** A run's frames as a stream of events, and last of all the run's end. */
import type { StoredFrame } from '../log/payloads.ts';
import type { RunRef } from '../thread/events.ts';
import { wantedFrames } from '../streams/wanted-frames.ts';
import { runEndOf } from '../thread/run-end.ts';
import type { ServerContext } from './context.ts';
import type { StreamingReply } from './streaming-body.ts';
import { eventText, sseReply } from './sse.ts';

export interface RunReading {
  /** Frames with ids above this one. */
  readonly after: number;
  /** A frame that comes before them. */
  readonly opening?: StoredFrame | undefined;
  readonly wants?: ((frame: StoredFrame) => boolean) | undefined;
}

/** After the end, clients need not ask whether the run goes on somewhere else. */
export function runReply(
  { streams }: ServerContext,
  run: RunRef,
  { after, opening, wants }: RunReading,
  reply: StreamingReply,
): Response {
  const { signal } = reply.over;
  const end = async (): Promise<string> => {
    const ended = await streams.ended(run.runId, signal);
    if (signal.aborted) return '';
    // A run that is gone was rolled back, or deleted with its thread.
    const outcome = ended?.outcome ?? undefined;
    const status =
      outcome === undefined
        ? 'rollback'
        : runEndOf(outcome, { attempt: 1, head: ended?.head ?? null }).webhook;
    return eventText('end', { run_id: run.runId, status });
  };
  const rest = streams.read(run, after, signal);
  const pages = opening === undefined ? rest : preceded([opening], rest);
  return sseReply(wants === undefined ? pages : wantedFrames(pages, wants), reply, end);
}

async function* preceded<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
