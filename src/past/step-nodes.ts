/** The nodes behind a single checkpoint: those of the tasks that wrote on it. */
import { isObject, type Json } from '../kernel/json.ts';
import type { PayloadReader, StoredCheckpoint } from '../log/payloads.ts';
import type { CheckpointKey } from '../thread/events.ts';

const PULLED = '~__pregel_pull, ';
/** Task path of a call (`Send`) from the previous step, with its index among all calls. */
const PUSHED = /^~__pregel_push, (\d+)(?:,|$)/;
/** Channel of the calls that a task asked for. */
export const SENDS = '__pregel_tasks';

/** Returns the node of a task; undefined when a call is unknown. `sent`: calls of the previous step, as stored. */
export function nodeOfPath(path: string, sent: readonly string[]): string | undefined {
  if (path.startsWith(PULLED)) return path.slice(PULLED.length);
  const pushed = sent[Number(PUSHED.exec(path)?.[1])];
  return pushed === undefined ? undefined : nodeOfSend(JSON.parse(pushed) as Json);
}

/** Name of the node that a stored `Send` calls. */
export function nodeOfSend(send: Json): string {
  const fields = isObject(send) ? send['v'] : undefined;
  return String(isObject(fields) ? fields['node'] : '?');
}

/** Removes task ids from a namespace such as `research:7f…|plan:01…`. */
export const graphOf = (ns: string): string =>
  ns
    .split('|')
    .map((part) => part.split(':', 1)[0]!)
    .join('|');

export const kindOf = (checkpoint: Pick<StoredCheckpoint, 'body'> | undefined): unknown =>
  checkpoint && (JSON.parse(checkpoint.body) as { kind?: unknown }).kind;

/** Values are not needed to name nodes. */
const WITHOUT_VALUES = { names: [], written: false } as const;

/** Nodes of the tasks that wrote on the checkpoint, in order; undefined when none did, or no task has a path. */
export async function nodesOn(
  payloads: PayloadReader,
  threadId: string,
  { ns, checkpointId }: CheckpointKey,
): Promise<string[] | undefined> {
  const checkpoint = await payloads.checkpoint(threadId, ns, checkpointId, WITHOUT_VALUES);
  if (checkpoint === undefined) return undefined;
  const paths = new Map(
    checkpoint.writes.flatMap(({ taskId, taskPath = '' }) => (taskPath === '' ? [] : [[taskId, taskPath]])),
  );
  if (paths.size === 0) return undefined;
  const isCalled = [...paths.values()].some((path) => PUSHED.test(path));
  const { parentId } = checkpoint;
  const before =
    isCalled && parentId !== null
      ? await payloads.checkpoint(threadId, ns, parentId, WITHOUT_VALUES)
      : undefined;
  const sent = (before?.writes ?? [])
    .filter(({ channel, taskPath = '' }) => channel === SENDS && taskPath !== '')
    .map(({ data }) => data);
  return [...paths.values()].flatMap((path) => nodeOfPath(path, sent) ?? []);
}
