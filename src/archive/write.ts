/** Writes one thread as the bytes of an exported file, in bounded memory. */
import { assistantStream, type AssistantEvent } from '../assistant/events.ts';
import { maskKeys } from '../kernel/key-names.ts';
import { VERSION } from '../kernel/product.ts';
import { upcasters, type Recorded } from '../store/port/events.ts';
import type { ThreadSource } from '../store/port/thread-source.ts';
import { threadStream, type ThreadEvent } from '../thread/events.ts';
import type { ImportOrigin, UsedAssistant } from '../thread/import-origin.ts';
import { schemaVersionOf } from '../thread/upcast.ts';
import { toContainer } from './container.ts';
import { kindOf } from './kinds.ts';
import { RECORD_LIMITS } from './limits.ts';
import { FORMAT, type Header } from './records.ts';
import { toBytes, type OutRecord } from './to-bytes.ts';

export interface ExportRequest {
  readonly threadId: string;
  /** Milliseconds since 1970. */
  readonly exportedAt: number;
  /** Versions of packages that the graphs used. */
  readonly libraries: Readonly<Record<string, string>>;
  /** Tells whether an assistant's configuration may be in the file; all may by default. */
  readonly mayTell?: (assistantId: string) => Promise<boolean>;
  readonly onBytes?: (bytes: number) => void;
}

export class NothingToExport extends Error {
  constructor(threadId: string) {
    super(`thread ${threadId} does not exist here`);
    this.name = 'NothingToExport';
  }
}

const PAGE_EVENTS = 500;

/** Yields the file. Throws `NothingToExport` before the first byte for a thread that is missing. */
export async function* exportThread(source: ThreadSource, request: ExportRequest): AsyncGenerator<Buffer> {
  const about = await describe(source, request);
  yield* toContainer(FORMAT, toBytes('thread', records(source, request, about), request.onBytes));
}

/** What is read of the thread before the first record. */
interface About {
  readonly header: Header;
  /** Of the thread itself; one that was deleted may have had the id before. */
  readonly firstVersion: number;
}

async function describe(
  source: ThreadSource,
  { threadId, exportedAt, libraries, mayTell = async () => true }: ExportRequest,
): Promise<About> {
  const used = new Map<string, { readonly graph: string; readonly positions: number[] }>();
  let first: number | undefined;
  /** Origin that the file of the last import named. */
  let origin: Partial<ImportOrigin> = {};
  for await (const event of eventsOf(source, threadId, 1)) {
    const { type, data, meta } = event;
    if (type === 'ThreadDeleted') first = undefined;
    if (type === 'ThreadCreated' || type === 'ThreadCopied') first = meta.version;
    if (type === 'ThreadImported') {
      origin = data.origin;
      // The assistants of this log had nothing to do with these runs.
      for (const { positions } of used.values()) positions.length = 0;
    }
    if (type !== 'RunCreated') continue;
    const known = used.get(data.assistantId) ?? { graph: data.graphId, positions: [] };
    used.set(data.assistantId, known);
    known.positions.push(meta.position);
  }
  if (first === undefined) throw new NothingToExport(threadId);
  const assistants: UsedAssistant[] = [];
  for (const [id, { graph, positions }] of used) {
    const told = origin.assistants?.find((each) => each.id === id)?.versions ?? [];
    const own = positions.length > 0 && (await mayTell(id)) ? await versionsOf(source, id, positions) : [];
    assistants.push({ id, graph, versions: distinct([...told, ...own]) });
  }
  return {
    header: {
      kind: 'header',
      ...{ program: VERSION, exportedAt, thread: { id: threadId } },
      graphs: [...new Set(assistants.map(({ graph }) => graph))],
      assistants: newestOf(assistants),
      libraries: { ...origin.libraries, ...libraries },
    },
    firstVersion: first,
  };
}

type Versions = UsedAssistant['versions'];

const distinct = (versions: Versions): Versions => [
  ...new Map(versions.map((each) => [JSON.stringify(each), each])).values(),
];

/** The newest versions, as many as the header has room for. */
function newestOf(assistants: readonly UsedAssistant[]): UsedAssistant[] {
  let left = RECORD_LIMITS.thread.maxHeadBytes / 2;
  return assistants.map((assistant) => {
    const kept = assistant.versions.toReversed().filter((version) => {
      left -= Buffer.byteLength(JSON.stringify(version));
      return left > 0;
    });
    return { ...assistant, versions: kept.reverse() };
  });
}

/** The versions that were current when the runs at these positions were created; empty for a deleted assistant. */
async function versionsOf(
  source: ThreadSource,
  assistantId: string,
  positions: readonly number[],
): Promise<Versions> {
  const stream = assistantStream(assistantId);
  const changes: (AssistantEvent & { readonly meta: { readonly position: number } })[] = [];
  for (let from = 1; ;) {
    const page = await source.readStream(stream, from, PAGE_EVENTS);
    changes.push(...(page as unknown as typeof changes));
    if (page.length < PAGE_EVENTS) break;
    from = page.at(-1)!.meta.version + 1;
  }
  const found = new Map<number, Versions[number]>();
  for (const position of positions) {
    const current = changes.findLast(({ meta }) => meta.position < position);
    if (current === undefined || current.type === 'AssistantDeleted') continue;
    const { graphId: graph, name, config, context } = current.data;
    const version = current.type === 'AssistantCreated' ? 1 : current.data.version;
    // A4 The file may reach others than those who may read the assistant.
    found.set(version, { version, graph, name, config: maskKeys(config), context: maskKeys(context) });
  }
  return [...found.values()];
}

async function* eventsOf(
  source: ThreadSource,
  threadId: string,
  from: number,
): AsyncGenerator<Recorded<ThreadEvent>> {
  for (let next = from; ;) {
    const page = await source.readStream(threadStream(threadId), next, PAGE_EVENTS);
    yield* page as Recorded<ThreadEvent>[];
    if (page.length < PAGE_EVENTS) return;
    next = page.at(-1)!.meta.version + 1;
  }
}

/** Payloads come before the events that speak of them: an import has both when the events make the thread visible. */
async function* records(
  source: ThreadSource,
  { threadId }: ExportRequest,
  { header, firstVersion }: About,
): AsyncGenerator<OutRecord> {
  yield { head: header };
  for await (const payload of source.payloads()) {
    const head = { kind: payload.kind, thread: threadId, ...kindOf(payload.kind).toHead(payload) };
    yield payload.kind === 'recording' ? { head, bytes: payload.bytes } : { head, text: payload.text };
  }
  for await (const event of eventsOf(source, threadId, firstVersion)) {
    const { type, meta } = event;
    const { stream, at } = meta;
    // An imported thread has a row of its own, so no run carries it.
    const data = JSON.stringify({ ...toCarried(event), carrier: undefined });
    const head = { kind: 'event', stream, version: meta.version - firstVersion + 1, type };
    yield {
      head: { ...head, schema: schemaVersionOf(type, upcasters), at },
      text: { data, whole: async () => data },
    };
  }
}

/** A4 A webhook's URL may be a secret, and deliveries do not come along; nor do leases. */
function toCarried({ type, data }: ThreadEvent): object {
  if (type === 'RunStarted') {
    const { leaseId: _, ...rest } = data;
    return rest;
  }
  if (type !== 'RunCreated') return data;
  const { webhook: _, ...kwargs } = data.kwargs;
  return { ...data, kwargs };
}
