/** A run's frames as a stream of events, and last of all the run's end. */
import type { RunPlace } from '../streams/hub.ts';
import { runEndOf } from '../thread/run-end.ts';
import type { ServerContext } from './context.ts';
import type { HeldReply } from './held-body.ts';
import { eventText, sseReply } from './sse.ts';

/** Frames with ids above `after`. After the end, clients need not ask whether the run goes on somewhere else. */
export function runReply(
  { streams }: ServerContext,
  run: RunPlace,
  after: number,
  reply: HeldReply,
  wanted?: (event: string) => boolean,
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
  return sseReply(streams.read(run, after, signal), reply, wanted, end);
}
