/** Streams a run's frames as server-sent events. An `end` event follows where the request or the configuration asks for it. */
import type { StoredFrame } from '../../store/port/payloads.ts';
import type { RunRef } from '../../thread/events.ts';
import type { Subscriber } from '../../streams/subscriber.ts';
import { wantedFrames } from '../../streams/wanted-frames.ts';
import { runEndOf } from '../../thread/run-end.ts';
import type { ServerContext } from '../context.ts';
import type { StreamingReply } from '../streaming-body.ts';
import { eventText, sseReply } from '../sse.ts';

export interface RunReading {
  /** Only frames with a higher id are sent. */
  readonly after: number;
  /** A frame that is sent before them. */
  readonly opening?: StoredFrame | undefined;
  readonly wants?: ((frame: StoredFrame) => boolean) | undefined;
  /** The run's subscriber since before its creation. */
  readonly followed?: Subscriber | undefined;
  /** Whether an `end` event follows the frames; undefined leaves the choice to the configuration. */
  readonly hasEnd?: boolean | undefined;
}

export function runReply(
  { streams, http }: ServerContext,
  run: RunRef,
  { after, opening, wants, followed, hasEnd = http.streamEnd }: RunReading,
  reply: StreamingReply,
): Response {
  const { signal } = reply.over;
  const end = async (): Promise<string> => {
    const ended = await streams.ended(run, signal);
    if (signal.aborted) return '';
    // A run without a record was rolled back or deleted with its thread.
    const outcome = ended?.outcome ?? undefined;
    const status =
      outcome === undefined
        ? 'rollback'
        : runEndOf(outcome, { attempt: 1, head: ended?.head ?? null }).webhook;
    return eventText('end', { run_id: run.runId, status });
  };
  const rest = streams.read(run, after, signal, followed);
  const pages = opening === undefined ? rest : preceded([opening], rest);
  return sseReply(wants === undefined ? pages : wantedFrames(pages, wants), reply, hasEnd ? end : undefined);
}

async function* preceded<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
