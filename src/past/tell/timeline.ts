/** Builds the history of one thread: events with the state around each, steps, webhook attempts and cron slots. */
import { cronStream, type CronEvent } from '../../cron/events.ts';
import { deliveryStream } from '../../delivery/events.ts';
import { maskUrl } from '../../delivery/mask.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { projectFrames, userPlaceOf, type CodePosition } from '../../kernel/stack.ts';
import type { Recorded } from '../../store/port/events.ts';
import type { History } from '../../store/port/past.ts';
import type { ThreadEvent, ThreadEventMap } from '../../thread/events.ts';
import type { RepeatedCalls, Warning } from '../../thread/origin.ts';
import { foldCron, foldThread } from '../fold.ts';
import { openRuns } from './ordinals.ts';
import { readEvents, readThreadEvents } from '../trace.ts';
import { openSteps, stepTime, type Step } from '../steps.ts';
import { summarise, type Around } from './summary.ts';
import { callsText, clip } from './text.ts';
import { openAddedMessages, type Added, type Tokens } from '../added-messages.ts';

export interface Entry {
  readonly position: number;
  readonly time: string;
  readonly type: string;
  /** Machine states around the event; null for events of other streams. */
  readonly before: string | null;
  readonly after: string | null;
  /** Description with full ids. */
  readonly summary: string;
  /** Ordinal of the run in the thread, from 1. */
  readonly run?: number;
  /** Only for checkpoints. */
  readonly step?: Step;
  /** Duration in milliseconds: of a run's last attempt, or since the previous checkpoint. */
  readonly tookMs?: number;
  /** Only for a run's end: tokens of the messages that the run added. */
  readonly tokens?: Tokens;
  /** Only for a run's end: tool failures that were returned to models. */
  readonly failedTools?: Added['failedTools'];
  /** What the run did in vain without failing: at the checkpoint after it, else at the run's end. */
  readonly warnings?: readonly Warning[];
  /** Only for the start of a run's last attempt: what earlier ones had been answered. */
  readonly repeated?: readonly RepeatedCalls[];
  readonly data: Json;
}

const MAX_SHOWN_FRAMES = 3;
const MAX_WARNING_CHARACTERS = 300;

/** Returns entries in order of position, up to and including `to`. */
export async function timelineOf(history: History, threadId: string, to = Infinity): Promise<Entry[]> {
  const { events, entries: own } = await threadEntries(history, threadId);
  const ordinals = openRuns(events);
  const readAll = async (streams: readonly string[]): Promise<Recorded[]> =>
    (await Promise.all(streams.map((stream) => readEvents(history, stream)))).flat();
  const fired = await readAll((await history.past.cronIds(threadId)).map(cronStream));
  const others = [
    ...(await readAll((await history.past.deliveryIds(threadId)).map(deliveryStream))),
    ...fired.filter((event) => event.type === 'CronFired' && event.data.threadId === threadId),
  ].map((event) => toEntry(event, null, null, ordinals.around(event)));
  return [...own, ...others].filter((entry) => entry.position <= to).sort((a, b) => a.position - b.position);
}

async function threadEntries(history: History, threadId: string) {
  const events = await readThreadEvents(history, threadId);
  const stepAt = await openSteps(history, threadId, events);
  const messages = openAddedMessages(history, threadId);
  const warningsAt = placeWarnings(events);
  const runs = openRuns(events);
  const fold = foldThread();
  const entries: Entry[] = [];
  for (const [index, event] of events.entries()) {
    const { before, after } = fold.step(event);
    const head = headOf(event);
    const added = head === undefined ? undefined : await messages.at(head);
    const around = { ...runs.around(event), ...(event.type === 'RunCompleted' && added) };
    const entry = toEntry(event, before.status, after.status, around, await stepAt(index));
    const warnings = warningsAt(event);
    const repeated = event.type === 'RunBegun' ? repeatedIn(events, event.data) : [];
    entries.push({
      ...entry,
      ...(warnings.length > 0 && { warnings }),
      ...(repeated.length > 0 && { repeated }),
    });
  }
  return { events, entries };
}

/** Head checkpoint after this event; undefined for events that neither add messages nor end a run. */
const headOf = ({ type, data }: ThreadEvent): string | null | undefined =>
  type === 'RunCompleted' || type === 'ThreadCopied' || type === 'StateUpdated' ? data.head : undefined;

/** Returns the history of a cron, in order. */
export async function cronTimelineOf(history: History, cronId: string): Promise<Entry[]> {
  const fold = foldCron();
  return (await readEvents(history, cronStream(cronId))).map((event) => {
    const { before, after } = fold.step(event as Recorded<CronEvent>);
    return toEntry(event, before.status, after.status, {});
  });
}

function toEntry(
  event: Recorded,
  before: string | null,
  after: string | null,
  around: Around & { readonly startedAt?: number } & Partial<Added>,
  step?: Step,
): Entry {
  const { ordinal, tookMs, tokens, failedTools = [], startedAt = 0 } = around;
  const took = event.type === 'CheckpointSaved' ? stepTime(event.data, event.meta.at, startedAt) : tookMs;
  return {
    position: event.meta.position,
    time: toTimestamp(event.meta.at),
    type: event.type,
    before,
    after,
    summary: summarise(event, around, step),
    ...(ordinal !== undefined && { run: ordinal }),
    ...(step !== undefined && { step }),
    ...(took !== undefined && { tookMs: took }),
    ...(tokens !== undefined && { tokens }),
    ...(failedTools.length > 0 && { failedTools }),
    data: withoutTokens(event),
  };
}

/** Masks secrets in webhook URLs. */
function withoutTokens(event: Recorded): Json {
  const data = event.data as unknown as JsonObject;
  if (event.type === 'WebhookOwed') return { ...data, url: maskUrl(event.data.url) };
  if (event.type !== 'RunCreated' || event.data.kwargs.webhook === undefined) return data;
  return {
    ...data,
    kwargs: { ...(data['kwargs'] as JsonObject), webhook: maskUrl(event.data.kwargs.webhook) },
  };
}

/** Groups the warnings of all runs by the event that they are shown at. */
function placeWarnings(events: readonly Recorded<ThreadEvent>[]): (event: ThreadEvent) => readonly Warning[] {
  const found = new Map<ThreadEvent, Warning[]>();
  for (const end of events) {
    if (end.type !== 'RunCompleted') continue;
    for (const warning of end.data.observed?.warnings ?? []) {
      const graph = (warning.node ?? '').split('|').slice(0, -1).join('|');
      const at =
        events.find(
          ({ type, data }) =>
            type === 'CheckpointSaved' &&
            data.runId === end.data.runId &&
            data.step === warning.step &&
            nodePathOf(data.ns) === graph,
        ) ?? end;
      found.set(at, [...(found.get(at) ?? []), warning]);
    }
  }
  return (event) => found.get(event) ?? [];
}

/** Calls that this attempt repeated. An attempt that died says nothing of them: the next one repeats them again. */
const repeatedIn = (
  events: readonly ThreadEvent[],
  { runId, attempt }: ThreadEventMap['RunBegun'],
): readonly RepeatedCalls[] =>
  events.flatMap(({ type, data }) =>
    type === 'RunCompleted' && data.runId === runId && data.attempt === attempt ? (data.repeated ?? []) : [],
  );

/**
 * Lines below the start of an attempt, a step or a run's end: repeated calls, warnings, the innermost stack frames, project files
 * first, and failed tools.
 */
export function detailsOf({ type, data, failedTools = [], warnings = [], repeated = [] }: Entry): string[] {
  if (type === 'RunBegun') return repeated.flatMap(repeatedText);
  const warned = warnings.flatMap(({ message, stack = '' }) => [
    `warning: ${clip(message, MAX_WARNING_CHARACTERS)}`,
    ...projectFrames(stack, 1),
  ]);
  if (type !== 'RunCompleted') return warned;
  const { outcome, observed } = data as unknown as ThreadEventMap['RunCompleted'];
  const isWarned = (tool: string): boolean =>
    observed?.warnings.some(({ message }) => message.startsWith(`The tool "${tool}"`)) === true;
  return [
    ...(outcome.kind === 'error' ? projectFrames(outcome.origin?.stack ?? '', MAX_SHOWN_FRAMES) : []),
    ...failedTools
      .filter(({ tool }) => !isWarned(tool))
      .map(({ tool, message }) => `tool ${tool} failed: ${clip(message)}`),
    ...warned,
  ];
}

/** Where the code of the project failed; undefined for everything but a failed run's end. */
export function placeOf({ type, data }: Entry): CodePosition | undefined {
  if (type !== 'RunCompleted') return undefined;
  const { outcome } = data as unknown as ThreadEventMap['RunCompleted'];
  return outcome.kind === 'error' ? userPlaceOf(outcome.origin?.stack ?? '') : undefined;
}

const repeatedText = ({ node, served, again }: RepeatedCalls): string[] => [
  ...(served.length === 0 ? [] : [`${callsText(served)} of ${node} served from the log`]),
  ...(again.length === 0
    ? []
    : [`${callsText(again)} of ${node} asked again (no answer when the worker died)`]),
];
