/** What is done with a project, in a form that both the library itself and the server's client can follow. */
export type Mode = 'values' | 'updates' | 'messages' | 'custom' | 'debug' | 'tasks' | 'checkpoints';

export interface RunStep {
  readonly do: 'run';
  /** Name of the conversation; steps with the same name share a thread. */
  readonly thread?: string;
  readonly input?: unknown;
  readonly resume?: unknown;
  /** Answers by id to what waits, in the order of the questions' JSON text. */
  readonly answers?: readonly unknown[];
  /** The library refuses it before anything is streamed. */
  readonly refused?: true;
  readonly goto?: string;
  readonly update?: unknown;
  readonly modes?: readonly Mode[];
  readonly subgraphs?: boolean;
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly recursionLimit?: number;
  readonly interruptBefore?: readonly string[];
  readonly interruptAfter?: readonly string[];
  /** Tasks run side by side, and the library does not promise which of them shows something first (parallel.ts). */
  readonly parallel?: true;
  /** Begins at this entry of the thread's history, counted from the newest. */
  readonly from?: number;
}

export type Step =
  | RunStep
  /** Only the final values: the last chunk of stream mode `values`, and `runs.wait`. */
  | (Omit<RunStep, 'do' | 'modes' | 'subgraphs'> & { readonly do: 'wait' })
  /** Texts of the messages that models stream, one for each id, as stream mode `messages` shows them. */
  | (Omit<RunStep, 'do' | 'modes' | 'subgraphs'> & { readonly do: 'heard' })
  /** Names of the events in order: stream mode `events`. */
  | (Omit<RunStep, 'do' | 'modes' | 'subgraphs'> & { readonly do: 'events' })
  | { readonly do: 'state'; readonly thread?: string; readonly subgraphs?: boolean }
  /** `configurable`: what the library must be told to make the graph that the server makes by itself. */
  | {
      readonly do: 'history';
      readonly thread?: string;
      readonly configurable?: Readonly<Record<string, unknown>>;
    }
  | { readonly do: 'update'; readonly thread?: string; readonly values: unknown; readonly asNode?: string }
  | { readonly do: 'items'; readonly namespace: readonly string[] }
  /** The server is killed and another one started on its log; the library goes on. */
  | { readonly do: 'restart' }
  /** A run in whose middle the server is killed: once the first update has been streamed. Its final values. */
  | (Omit<RunStep, 'do' | 'modes' | 'subgraphs'> & { readonly do: 'killed' });

export interface Scenario {
  readonly graph: string;
  /** The file and export that the project's configuration names for the graph. */
  readonly source: string;
  readonly steps: readonly Step[];
}

/** What a step showed, as JSON. */
export interface Observation {
  readonly step: string;
  readonly shown: unknown;
}

export const MODES: Readonly<Record<string, readonly Mode[]>> = {
  '0.2': ['values', 'updates', 'messages', 'custom', 'debug'],
  '0.3': ['values', 'updates', 'messages', 'custom', 'debug'],
};
export const ALL_MODES: readonly Mode[] = [
  ...(['values', 'updates', 'messages', 'custom', 'debug', 'tasks', 'checkpoints'] as const),
];
