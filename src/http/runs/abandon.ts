import { stopReason } from '../../thread/run-end.ts';
import type { ServerContext } from '../context.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

/** Cancels a run with `on_disconnect: "cancel"` after its client has gone; does nothing while the server stops. */
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
