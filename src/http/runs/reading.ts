/** Determines from a request which frames of a run it reads, and from which id. */
import type { StoredFrame } from '../../store/port/payloads.ts';
import { parseFrameName } from '../../protocol/event.ts';
import { isFrameOf } from '../../protocol/stream-modes.ts';
import { LIFECYCLE } from '../../protocol/subgraph-frames.ts';
import { openNamespaceFilter, parseNamespace } from '../../streams/namespace-filter.ts';
import type { ServerContext } from '../context.ts';
import type { RunReading } from './reply.ts';
import type { JoinStreamQuery, StreamQuery } from './schemas.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

/** `Last-Event-ID` by which clients ask for the whole run. */
const BEGINNING = '-1';

type Wants = (frame: StoredFrame) => boolean;

/** Reading of a run that the request creates. */
export const readingOfNew = ({ namespace, stream_end: hasEnd }: StreamQuery): RunReading => ({
  after: -1,
  hasEnd,
  wants: namespace && openNamespaceFilter(namespace.map(parseNamespace)).wants,
});

/** Reading of an existing run. `lastId` is the id of the last frame that the client has. */
export async function readingOf(
  context: ServerContext,
  run: RunRecord,
  { stream_mode: modes, namespace: names, checkpoint_id: checkpointId, stream_end: hasEnd }: JoinStreamQuery,
  lastId: string | undefined,
): Promise<RunReading> {
  const shown = lastId === undefined || lastId === BEGINNING ? checkpointId : undefined;
  const { after, opening } = (shown === undefined
    ? undefined
    : await behindCheckpoint(context, run, shown)) ?? {
    after: await resumePoint(context, run, lastId),
  };
  const within = names && (await filterFrom(context, run, names, after));
  const wants: Wants | undefined =
    within === undefined && modes === undefined
      ? undefined
      : // The namespace filter is stateful and must see every frame.
        (frame) =>
          within?.(frame) !== false &&
          (modes === undefined || isFrameOf(modes, parseFrameName(frame.event).name));
  return { after, opening, wants, hasEnd };
}

/**
 * Reading that starts after the frames of a checkpoint; undefined when the run did not save it. The opening frame gets
 * the id of the last skipped frame, so that a client that reconnects resumes after it (S2).
 */
async function behindCheckpoint(
  { log }: ServerContext,
  run: RunRecord,
  checkpointId: string,
): Promise<Pick<RunReading, 'after' | 'opening'> | undefined> {
  const after = await log.payloads.lastFrameAt(run, checkpointId.toLowerCase());
  if (after === undefined) return undefined;
  const [metadata] = await log.payloads.frames(run.runId, -1, 1);
  return { after, opening: metadata && { ...metadata, id: after } };
}

/** S2 Id of the frame to resume after; -1 (the beginning) for a value that is not a frame id of this run. */
async function resumePoint(
  { log }: ServerContext,
  { runId }: RunRecord,
  given: string | undefined,
): Promise<number> {
  if (given === undefined || !/^\d{1,15}$/.test(given)) return -1;
  const id = Number(given);
  return id <= (await log.payloads.lastFrame(runId)) ? id : -1;
}

async function filterFrom(
  { log }: ServerContext,
  { runId, kwargs }: RunRecord,
  names: readonly string[],
  after: number,
): Promise<Wants> {
  const hasLifecycle = after >= 0 && kwargs.streamMode.includes(LIFECYCLE);
  const lifecycleFrames = hasLifecycle ? await log.payloads.framesNamed(runId, LIFECYCLE) : [];
  const earlier = lifecycleFrames.filter(({ id }) => id <= after);
  return openNamespaceFilter(names.map(parseNamespace), earlier).wants;
}
