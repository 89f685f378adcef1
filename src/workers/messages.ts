/**
 * The messages between the server (S) and a graph worker (W), by the number of their type. Nothing in them assumes the
 * language of the worker. Unknown members of a head are ignored; an unknown type is an error.
 */
import type { GraphProblem, GraphSpec } from '../graphs/loader.ts';
import type { RunOrder } from '../graphs/port.ts';

export const TYPE = {
  /** W. First message: `Hello`. */
  hello: 1,
  /** S. `Welcome`. */
  welcome: 2,
  /** S. `{graphs: [id]}`: loads those that are not loaded yet, in order. */
  load: 3,
  /** W. `Loaded`, one for each id. */
  loaded: 4,
  /** S. `{url}`: the server's address has become known. */
  base: 5,
  /** W. `{path}`: a file of the project was loaded. */
  file: 6,
  /** W. `{change}`: graph code has outlived its run (1), or has come to its end after all (-1). */
  leftover: 9,
  /** W. `{error, context}`: an error in graph code that nothing handles. */
  stray: 10,
  /** S. `Run`; opens the stream of a run attempt. */
  run: 16,
  /** W. `{}`: the worker has reached the run and waits for `go`. */
  begin: 17,
  /** S. `{ok}`: whether the run may begin. */
  go: 18,
  /** S. `{reason}`: stops the run. */
  cancel: 19,
  /** W. `{events}`, blob i is the data of event i. */
  chunk: 20,
  /** S. `{bytes, messages}`: what the server has taken of the run's chunks and posts. */
  credit: 21,
  /** W. `RunEnd` without `untracked`, which is the blob; the last message of its stream. */
  end: 22,
  /** S. `{error}`: a write of the run was refused, so it ends. */
  refused: 23,
  /** W. `{c, m, …}`: wants a `reply`. */
  call: 32,
  /** S. `{c, …}` or `{c, error}`. */
  reply: 33,
  /** W. `{m, …}`: a call that wants no reply. */
  post: 34,
  /** S. `{m, order}`: a question; opens its stream. */
  ask: 48,
  /** W. The answer, or `{error}`. */
  answer: 49,
  /** S. `{}`: the answer is not waited for any more. */
  leave: 50,
} as const;

export const PROTOCOL = { major: 1, minor: 0 };

export interface Hello {
  readonly protocol: { readonly major: number; readonly minor: number };
  readonly language: string;
  readonly version: string;
}

export interface Welcome {
  readonly graphs: readonly GraphSpec[];
  /** Where the server is; empty until it listens. */
  readonly base: string;
  /** Names this worker in requests to the server. */
  readonly token: string;
}

export interface Loaded {
  readonly graph: string;
  readonly problem?: GraphProblem;
}

/** The order without input, command and context; these and a head that was read along are blobs. */
export interface Run {
  readonly order: Omit<RunOrder, 'input' | 'command' | 'context'>;
  /** Begins at once, without asking. */
  readonly go: boolean;
  /** Number of the blob. */
  readonly input: number;
  readonly command?: number;
  readonly context?: number;
  /** A packed checkpoint from `first` on; null when the thread has none; absent when it was not read. */
  readonly head?: object | null;
}

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** Room of a run for chunks and posts that the server has not taken. */
export const WINDOW = { bytes: 256 * 1_024, messages: 64 };

/** Calls of one run or question under way; further ones wait in the worker. */
export const MAX_CALLS = 32;
