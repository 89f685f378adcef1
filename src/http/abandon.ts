import type { RunRecord } from '../projections/run-queries.ts';
import { stopReason } from '../thread/run-end.ts';
import type { ServerContext } from './context.ts';

/** `on_disconnect: "cancel"`: the client went away, so its run is told to stop. At shutdown everybody goes away. */
export function cancelAbandoned(
  context: ServerContext,
  { runId, threadId }: Pick<RunRecord, 'runId' | 'threadId'>,
): void {
  if (context.stopping.aborted) return;
  context.threads
    .dispatch(threadId, [
      { type: 'RequestCancel', runId, action: 'interrupt', reason: stopReason.disconnect },
    ])
    .catch((error: unknown) => context.onFault(error, `cancelling run ${runId}`));
}
