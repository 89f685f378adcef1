/** R2 The state of a thread at a version of its stream, and who wrote what since another version. Runs no graph code. */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { JsonText } from '../../kernel/json-text.ts';
import type { Recorded } from '../../store/port/events.ts';
import { threadStream, type ThreadEvent } from '../../thread/events.ts';
import { questionsOf, runEndOf } from '../../thread/run-end.ts';
import { kindOf, nodesOn } from '../step-nodes.ts';
import { follows, stepOf, type Saved } from '../steps.ts';
import type { RunSource } from '../trace.ts';
import { changesBetween, valueAt, type Change } from './changes.ts';
import { savedHeadOf } from './thread-past.ts';

interface VersionState {
  readonly version: number;
  /** Time of the version's event, milliseconds since 1970. */
  readonly at: number;
  /** Head checkpoint of the root graph. */
  readonly head: string | null;
  readonly parent: string | null;
  /** Version of the event that saved the head; undefined for a copy and for a thread without state. */
  readonly savedAt: number | undefined;
  /** Undefined when the thread has none, or when they were erased. */
  readonly values: JsonText | undefined;
  readonly isErased: boolean;
  readonly next: readonly string[];
  /** Open questions of the moment, by task id. */
  readonly interrupts: JsonObject;
}

/** `version`: of the event that wrote the value, or removed it. */
export interface WrittenChange extends Change {
  readonly version: number;
}

export interface VersionPast {
  /** Undefined for a version that the stream does not have. */
  stateAt(version: number): Promise<VersionState | undefined>;
  /** Changes of the values after the version `from` until `to`; 0 is before the first event. At most `max`. */
  changes(from: number, to: number, max: number): Promise<readonly WrittenChange[]>;
}

type Event = Recorded<ThreadEvent>;
const PAGE_EVENTS = 32;

export function openVersions(
  source: RunSource,
  threadId: string,
  graphOf: (runId: string) => Promise<string | undefined>,
): VersionPast {
  const stream = threadStream(threadId);
  const heads = new Map<number, Promise<string | null>>();
  const values = new Map<string, Promise<Json>>();

  const pages = new Map<number, Promise<readonly Event[]>>();

  const read = async (from: number, limit: number) =>
    (await source.readStream(stream, from, limit)) as readonly Event[];
  /** The events of whole pages, which several questions about a version share. */
  const pageOf = (page: number): Promise<readonly Event[]> => {
    const known = pages.get(page) ?? read(page * PAGE_EVENTS + 1, PAGE_EVENTS);
    pages.set(page, known);
    return known;
  };

  /** Yields the event of the version, then those before it. */
  async function* backwards(version: number): AsyncGenerator<Event> {
    for (let page = Math.floor((version - 1) / PAGE_EVENTS); page >= 0; page--)
      for (const event of (await pageOf(page)).toReversed()) if (event.meta.version <= version) yield event;
  }

  const headAt = (version: number): Promise<string | null> => {
    const known = heads.get(version) ?? findHead(version);
    heads.set(version, known);
    return known;
  };
  async function findHead(version: number): Promise<string | null> {
    for await (const event of backwards(version)) {
      const head = headAfter(event);
      if (head !== undefined) return head;
    }
    return null;
  }

  async function valuesAt(version: number): Promise<Json> {
    const head = version === 0 ? null : await headAt(version);
    if (head === null) return {};
    const known =
      values.get(head) ?? source.payloads.values(threadId, head).then((text) => text?.parse() ?? {});
    values.set(head, known);
    return known;
  }

  /** Version of the event that saved the head. */
  async function savingOf(head: string, version: number): Promise<Event | undefined> {
    for await (const event of backwards(version)) if (savedHeadOf(event) === head) return event;
    return undefined;
  }

  async function nextOf(saving: Event | undefined): Promise<readonly string[]> {
    const graphId = saving?.type === 'CheckpointSaved' ? await graphOf(saving.data.runId) : undefined;
    return nodesAfter(source, threadId, saving, graphId ?? '');
  }

  /** The first version up to `to` from which on the value is as it is at `to`; at `from` it was another one. */
  async function writtenAt({ place, after }: Change, from: number, to: number): Promise<number> {
    let [other, same] = [from, to];
    while (same - other > 1) {
      const middle = Math.floor((other + same) / 2);
      if (isDeepStrictEqual(valueAt(await valuesAt(middle), place), after)) same = middle;
      else other = middle;
    }
    return same;
  }

  return {
    async stateAt(version) {
      const [event] = await read(version, 1);
      if (event?.meta.version !== version) return undefined;
      const head = await headAt(version);
      const saving = head === null ? undefined : await savingOf(head, version);
      const text = head === null ? undefined : await source.payloads.values(threadId, head);
      return {
        ...{ version, at: event.meta.at, head, savedAt: saving?.meta.version },
        parent: saving === undefined ? null : parentOf(saving, head!),
        values: text,
        isErased: head !== null && text === undefined,
        next: text === undefined ? [] : await nextOf(saving),
        interrupts: await interruptsAt(backwards(version)),
      };
    },
    async changes(from, to, max) {
      const found: WrittenChange[] = [];
      for (const change of changesBetween(await valuesAt(from), await valuesAt(to))) {
        if (found.length === max) break;
        found.push({ ...change, version: from < to ? await writtenAt(change, from, to) : to });
      }
      return found;
    },
  };
}

/** The thread's head after an event; undefined for events that do not tell it. */
function headAfter(event: ThreadEvent): string | null | undefined {
  const { type, data } = event;
  if (type === 'ThreadCopied' || type === 'RunCompleted' || type === 'RunDeleted') return data.head;
  return type === 'ThreadCreated' ? null : savedHeadOf(event);
}

const parentOf = ({ type, data }: ThreadEvent, head: string): string | null =>
  type === 'CheckpointSaved'
    ? data.parentId
    : type === 'StateUpdated'
      ? (data.checkpoints.find(({ checkpointId }) => checkpointId === head)?.parentId ?? null)
      : null;

/** `events`: backwards from the moment. */
async function interruptsAt(events: AsyncGenerator<Event>): Promise<VersionState['interrupts']> {
  const traceless = new Set<string>();
  for await (const { type, data } of events) {
    if (type === 'ThreadCreated' || (type === 'RunStarted' && !traceless.has(data.runId))) return {};
    if (type === 'StateUpdated') return data.interrupts;
    if (type !== 'RunCompleted') continue;
    if (runEndOf(data.outcome, data).thread !== 'as-before') return questionsOf(data.outcome);
    traceless.add(data.runId);
  }
  return {};
}

/** Nodes that ran behind the saved checkpoint, or have yet to run. */
export async function nodesAfter(
  source: RunSource,
  threadId: string,
  saving: Event | undefined,
  graphId: string,
): Promise<readonly string[]> {
  if (saving?.type === 'StateUpdated') return saving.data.next;
  if (saving?.type !== 'CheckpointSaved') return [];
  const { payloads } = source;
  const { data, meta } = saving;
  const load = () => payloads.checkpoint(threadId, data.ns, data.checkpointId);
  const { next = [] } = await stepOf(data, {
    graphId,
    nodesOn: (key) => nodesOn(payloads, threadId, key),
    following: () => followingOf(source, threadId, data, meta.version),
    load,
    isFunction: async () => kindOf(await load()) === 'function',
  });
  return next;
}

/** X1 Runs of a thread execute one at a time, so the event behind a checkpoint of a run is near. */
async function followingOf(source: RunSource, threadId: string, saved: Saved, version: number) {
  for (let from = version + 1; ;) {
    const page = (await source.readStream(threadStream(threadId), from, PAGE_EVENTS)) as readonly Event[];
    const found = page.find((event) => follows(saved, event));
    if (found !== undefined || page.length === 0) return found;
    from = page.at(-1)!.meta.version + 1;
  }
}
