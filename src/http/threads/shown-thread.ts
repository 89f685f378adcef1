import type { Json } from '../../kernel/json.ts';
import type { JsonText } from '../../kernel/json-text.ts';
import type { EventLog } from '../../store/port/log.ts';
import { toThread } from './shapes.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

/** Renders a thread for replies: its row, the config of its last run, and its values unless `values` is false. */
export async function shownThread(
  { payloads }: EventLog,
  thread: ThreadRecord,
  { values = true } = {},
): Promise<Record<string, Json | JsonText>> {
  const { threadId, head } = thread;
  return toThread(thread, {
    config: await payloads.lastConfig(threadId),
    values: values && head !== null ? await payloads.values(threadId, head) : undefined,
  });
}
