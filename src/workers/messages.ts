/**
 * Types of the messages that the server (S) and a graph worker (W) send, with the shape of the JSON head. Receivers
 * ignore unknown members of a head; a worker exits on an unknown type.
 */
import type { GraphProblem, GraphSpec } from '../graphs/loader.ts';
import type { RunOrder } from '../graphs/port.ts';

export const TYPE = {
  /** W. First message: `Hello`. */
  hello: 1,
  /** S. `Welcome`. */
  welcome: 2,
  /** S. `{graphs: [id]}`: load these graphs in order, unless they are loaded. */
  load: 3,
  /** W. `Loaded`; sent once for each graph. */
  loaded: 4,
  /** S. `{url}`: the server listens at this address. */
  base: 5,
  /** W. `{path, importer?}`: the worker loaded this project file, or resolved an import of it. */
  file: 6,
  /** W. `{change}`: 1 when code goes on after its run has ended, -1 when that code ends. */
  overrun: 9,
  /** W. `{error, context}`: an unhandled error in graph code. */
  uncaught: 10,
  /** S. `Run`: execute a run attempt; opens the attempt's stream. */
  run: 16,
  /** W. `{}`: the worker's event loop has received the run and waits for `go`. */
  begin: 17,
  /** S. `{ok}`: true starts the run, false withdraws it. */
  go: 18,
  /** S. `{reason}`: stop the run, with a `StopReason`. */
  cancel: 19,
  /** W. `{events}`: output of the run; blob i is the data of events[i]. */
  chunk: 20,
  /** S. `{bytes, messages}`: size of the run's chunks and posts that the server has processed since the last credit. */
  credit: 21,
  /**
   * W. `RunEnd`, with its `untracked` as the last blob; the last message of the stream. `wrote`: chunks and posts before it,
   * each as `{type, head, blobs}` with the number of its blobs.
   */
  end: 22,
  /** S. `{error}`: the server refused a write, so the run must end. */
  refused: 23,
  /** W. `{c, m, …}`: calls method `m`; the server answers with a `reply` that has the same call id `c`. */
  call: 32,
  /** S. `{c, …}` or `{c, error}`: the result of call `c`. */
  reply: 33,
  /** W. `{m, …}`: calls method `m` without a reply. */
  post: 34,
  /** S. `{m, order}`: a graph query; opens its stream. */
  query: 48,
  /** W. `{result}` or `{error}`: the result of the query. */
  result: 49,
  /** S. `{}`: the server no longer waits for the result. */
  abandon: 50,
} as const;

export const PROTOCOL = { major: 1, minor: 0 };

export interface Hello {
  readonly protocol: { readonly major: number; readonly minor: number };
  readonly language: string;
  readonly version: string;
}

export interface Welcome {
  readonly graphs: readonly GraphSpec[];
  /** URL of the server; empty until it listens. */
  readonly base: string;
  /** Identifies this server's graph workers in HTTP requests to it. */
  readonly token: string;
  /** Lines that graph code prints begin with their run, and a line that blocks the worker is printed. */
  readonly isDevelopment: boolean;
}

export interface Loaded {
  readonly graph: string;
  readonly problem?: GraphProblem;
}

/** Head of a `run` message. Input, command, context and the texts of the head checkpoint are blobs. */
export interface Run {
  readonly order: Omit<RunOrder, 'input' | 'command' | 'context'>;
  /** True: the run starts at once, without `begin` and `go`. */
  readonly go: boolean;
  /** Blob index, also for `command` and `context`. */
  readonly input: number;
  readonly command?: number;
  readonly context?: number;
  /** The thread's packed head checkpoint; null when it has none, absent when the server did not read it. */
  readonly head?: object | null;
}

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** Maximum size of a run's chunks and posts that the server has not processed. */
export const WINDOW = { bytes: 256 * 1_024, messages: 64 };

/** Maximum concurrent calls of one run or query; further calls wait in the worker. */
export const MAX_CALLS = 32;
