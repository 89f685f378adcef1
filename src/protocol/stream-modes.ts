/**
 * The stream modes that a run can be asked for, in one table. Request schemas, adapters, filters and the log's writer
 * read a mode's properties here; storage knows no mode. A mode of the library needs its row alone; a mode that this
 * server makes itself needs the code in an adapter that makes its frames, too.
 */
import { parseFrameName } from './event.ts';

interface StreamModeRow {
  /** Names of its frames. A frame of a subgraph has the subgraph's namespace behind the name: `values|child:1`. */
  readonly frames: readonly [string, ...string[]];
  /** The mode of the library whose chunks become its frames; absent if the server makes its frames from other output. */
  readonly library?: string;
  /** Form of the data that a chunk becomes; by default the chunk's JSON. */
  readonly form?: 'message' | 'task' | 'checkpoint' | 'debug';
  /** Modes of the library that are read for it without becoming its frames. */
  readonly reads?: readonly string[];
  /** Modes of the library that are read for it of all subgraphs, even if the client did not ask for subgraphs. */
  readonly subgraphReads?: readonly string[];
  /** Its frames are made of the library's `streamEvents` instead of `stream`. */
  readonly needsEvents?: true;
  /**
   * Its frames repeat the graph's state, so the log stores them as differences: `whole` shows nothing else, `part` shows
   * the state within other data.
   */
  readonly state?: 'whole' | 'part';
  /** Before langgraph 1.7 the namespace of its chunks names a node instead of a graph. */
  readonly isNodeNamespace?: true;
  /** Its frames concern the whole run: namespace filters let them pass. */
  readonly isRunWide?: true;
  /** Runs that are started by protocol commands have it, because protocol events are folded from its frames. */
  readonly isForProtocol?: true;
}

const TABLE = {
  values: { frames: ['values'], library: 'values', state: 'whole', isForProtocol: true },
  updates: { frames: ['updates'], library: 'updates', isForProtocol: true },
  /** Messages accumulated with every chunk, and once more when they are in the state. */
  messages: {
    frames: ['messages/metadata', 'messages/partial', 'messages/complete'],
    reads: ['values'],
    needsEvents: true,
  },
  /** Message chunks. */
  'messages-tuple': {
    frames: ['messages'],
    library: 'messages',
    form: 'message',
    isNodeNamespace: true,
    isForProtocol: true,
  },
  custom: { frames: ['custom'], library: 'custom', isForProtocol: true },
  events: { frames: ['events'], needsEvents: true, state: 'part' },
  debug: { frames: ['debug'], library: 'debug', form: 'debug', state: 'part' },
  tasks: { frames: ['tasks'], library: 'tasks', form: 'task', state: 'part', isForProtocol: true },
  checkpoints: { frames: ['checkpoints'], library: 'checkpoints', form: 'checkpoint', state: 'part' },
  tools: { frames: ['tools'], library: 'tools', isNodeNamespace: true, isForProtocol: true },
  /** Starts and ends of subgraphs. */
  lifecycle: { frames: ['lifecycle'], subgraphReads: ['tasks'], isRunWide: true },
} as const satisfies Record<string, StreamModeRow>;

export type StreamMode = keyof typeof TABLE;
export type ChunkForm = NonNullable<StreamModeRow['form']>;

export const STREAM_MODES = Object.keys(TABLE) as [StreamMode, ...StreamMode[]];
const rowOf = (mode: StreamMode): StreamModeRow => TABLE[mode];
const MODE_OF_FRAME = new Map(
  STREAM_MODES.flatMap((mode) => rowOf(mode).frames.map((name) => [name, mode] as const)),
);
const ROW_OF_LIBRARY_MODE = new Map(STREAM_MODES.map((mode) => [rowOf(mode).library, rowOf(mode)]));

/** Frames of every run, whatever its modes. */
const RUN_FRAMES: ReadonlySet<string> = new Set(['metadata', 'error']);

export const PROTOCOL_MODES = STREAM_MODES.filter((mode) => rowOf(mode).isForProtocol);

const collect = <T>(
  modes: readonly StreamMode[],
  pick: (row: StreamModeRow) => readonly T[] | T | undefined,
): T[] => [...new Set(modes.flatMap((mode) => pick(rowOf(mode)) ?? []))];

/** Name of the frames of a mode that has one. */
export const frameNameOf = (mode: StreamMode): string => rowOf(mode).frames[0];
/** Modes of the library whose chunks become frames. */
export const libraryModesOf = (modes: readonly StreamMode[]): string[] =>
  collect(modes, ({ library }) => library);
export const readsOf = (modes: readonly StreamMode[]): string[] => collect(modes, ({ reads }) => reads);
export const subgraphReadsOf = (modes: readonly StreamMode[]): string[] =>
  collect(modes, ({ subgraphReads }) => subgraphReads);
export const needsEvents = (modes: readonly StreamMode[]): boolean =>
  modes.some((mode) => rowOf(mode).needsEvents);

/** Form of the frames made of a library mode's chunks. */
export const formOf = (library: string): ChunkForm | undefined => ROW_OF_LIBRARY_MODE.get(library)?.form;
export const isNodeNamespace = (library: string): boolean =>
  ROW_OF_LIBRARY_MODE.get(library)?.isNodeNamespace === true;

/** True if a run of these modes shows frames of this name. */
export function isFrameOf(modes: readonly string[], name: string): boolean {
  const mode = MODE_OF_FRAME.get(name);
  return mode === undefined ? RUN_FRAMES.has(name) : modes.includes(mode);
}

/** True for frames that concern the whole run. */
export function isRunWide(name: string): boolean {
  const mode = MODE_OF_FRAME.get(name);
  return mode === undefined ? RUN_FRAMES.has(name) : rowOf(mode).isRunWide === true;
}

/** Adds how the frame repeats the state of its graph. */
export function withState<T extends { readonly event: string }>(frame: T): T & Pick<StreamModeRow, 'state'> {
  const mode = MODE_OF_FRAME.get(parseFrameName(frame.event).name);
  const state = mode && rowOf(mode).state;
  return state === undefined ? frame : { ...frame, state };
}
