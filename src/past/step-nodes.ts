/** The nodes behind a single checkpoint: those of the tasks that wrote on it. */
import { isObject, type Json } from '../kernel/json.ts';
import type { PayloadReader, StoredCheckpoint } from '../store/port/payloads.ts';
import type { CheckpointKey, SavedCheckpoint } from '../thread/events.ts';
import { parseStored } from './trace.ts';

const PULLED = '~__pregel_pull, ';
/** Task path of a call (`Send`) from the previous step, with its index among all calls. */
const PUSHED = /^~__pregel_push, (\d+)(?:,|$)/;
/** Task path of a call within a function. */
const CALLED = /^~__pregel_push, ~__pregel_pull, ([^,]+)/;
/** Channel of the calls that a task asked for. */
export const SENDS = '__pregel_tasks';

/** Returns the node of a task; undefined when a call is unknown. `called`: nodes that the previous step called. */
export const nodeOfPath = (path: string, called: readonly string[]): string | undefined =>
  path.startsWith(PULLED) ? path.slice(PULLED.length) : called[Number(PUSHED.exec(path)?.[1])];

/** Returns the function that called a task; empty for other tasks. */
export const callerOf = (path: string): string => CALLED.exec(path)?.[1] ?? '';

/** Returns the name of the node that a stored `Send` calls. */
export function nodeOfSend(send: Json): string {
  const fields = isObject(send) ? send['v'] : undefined;
  return String(isObject(fields) ? fields['node'] : '?');
}

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
  const called = (before?.writes ?? [])
    .filter(({ channel, taskPath = '' }) => channel === SENDS && taskPath !== '')
    .map(({ data }) => nodeOfSend(parseStored(data)));
  return [...paths.values()].flatMap((path) => nodeOfPath(path, called) ?? []);
}

export interface StepNodes {
  /** Nodes that led to the checkpoint; empty for inputs and for libraries without task names. */
  before(saved: SavedCheckpoint & { readonly runId: string }): Promise<readonly string[]>;
}

/** `graphOf`: the graph of a run, for plain functions, whose only node is named after it. */
export function openStepNodes(
  payloads: PayloadReader,
  threadId: string,
  graphOf: (runId: string) => Promise<string | undefined>,
): StepNodes {
  const functions = new Map<string, string | undefined>();
  /** The graph of the run if it is a plain function. */
  async function functionOf({ runId, ns, checkpointId }: CheckpointKey & { readonly runId: string }) {
    if (!functions.has(runId)) {
      const kind = kindOf(await payloads.checkpoint(threadId, ns, checkpointId, WITHOUT_VALUES));
      functions.set(runId, kind === 'function' ? await graphOf(runId) : undefined);
    }
    return functions.get(runId);
  }
  return {
    async before(saved) {
      const { ns, parentId, source } = saved;
      const graph = await functionOf(saved);
      if (graph !== undefined && source === 'loop') return [graph];
      return parentId === null
        ? []
        : ((await nodesOn(payloads, threadId, { ns, checkpointId: parentId })) ?? []);
    },
  };
}
