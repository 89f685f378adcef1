/** What can be wrong with a run's order beside its shape: the checkpoint to begin at, and the URL of its webhook. */
import { checkWebhookUrl } from '../delivery/url-policy.ts';
import { findTextProblem, type JsonObject } from '../kernel/json.ts';
import type { RunKwargs } from '../thread/events.ts';
import type { ServerContext } from './context.ts';
import { invalid } from './replies.ts';

/**
 * A run that starts elsewhere than at the head starts at a checkpoint that is there: none would mean from nothing.
 * A3 `threadId` is undefined for a thread that the caller does not see, and then no checkpoint is there.
 */
export async function checkPlace(
  { log }: ServerContext,
  threadId: string | undefined,
  { config }: RunKwargs,
): Promise<void> {
  const configurable = config['configurable'] as JsonObject;
  const { checkpoint_id: id, checkpoint_ns: ns } = configurable;
  for (const [field, value] of Object.entries({ checkpoint_id: id, checkpoint_ns: ns }))
    if (value !== undefined && value !== null && (typeof value !== 'string' || findTextProblem(value)))
      throw invalid(`${field}: expected plain text`);
  if (typeof id !== 'string' || id === '' || (typeof ns === 'string' && ns !== '')) return;
  if (threadId === undefined || (await log.payloads.checkpoint(threadId, '', id)) === undefined)
    throw invalid(`checkpoint_id: the thread has no checkpoint ${id}`);
}

/** W4 Throws a 422 that names the rule. Whatever keeps a URL for later asks it. */
export function checkWebhook(context: ServerContext, url: string | undefined): void {
  if (url === undefined || context.urlPolicy === undefined) return;
  const checked = checkWebhookUrl(url, context.urlPolicy);
  if (!checked.ok) throw invalid(`webhook: ${checked.problem}`);
}
