/** Checks of a run's request that need the log or the configuration: its start checkpoint and its webhook URL. */
import { checkWebhookUrl } from '../../delivery/url-policy.ts';
import { findTextProblem, type JsonObject } from '../../kernel/json.ts';
import type { RunKwargs } from '../../thread/events.ts';
import type { ServerContext } from '../context.ts';
import { invalid } from '../replies.ts';

/**
 * Throws a 422 when the named start checkpoint does not exist: the graph would otherwise start from an empty state.
 * A3 `threadId` is undefined for a thread that the caller may not read; every checkpoint is then missing.
 */
export async function checkStartCheckpoint(
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

/** W4 Throws a 422 that names the violated rule. Call it before a webhook URL is stored. */
export function checkWebhook(context: ServerContext, url: string | undefined): void {
  if (url === undefined || context.urlPolicy === undefined) return;
  const checked = checkWebhookUrl(url, context.urlPolicy);
  if (!checked.ok) throw invalid(`webhook: ${checked.problem}`);
}
