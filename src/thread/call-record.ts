/**
 * What the code of a run printed, and its calls of models and tools: content of the run beside its facts, for people who look
 * back. S1 It is on no stream.
 */

/** Where it happened. Code outside of tasks has no node and no step. */
export interface CallPlace {
  /** The checkpoint namespace of the task, with task ids; empty outside of tasks and for plain functions. */
  readonly ns: string;
  readonly node?: string;
  readonly step?: number;
}

interface Noted extends CallPlace {
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface PrintRecord extends Noted {
  readonly kind: 'print';
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** Number of UTF-16 units that are left out behind `text`. */
  readonly cut?: number;
}

export interface ModelOrToolRecord extends Noted {
  readonly kind: 'model' | 'tool';
  readonly name: string;
  /** The model's name, as its provider has it. */
  readonly model?: string;
  readonly ms: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** Of a call that failed. */
  readonly error?: string;
  /** X7 An earlier attempt had asked. */
  readonly served?: true;
}

/** Numbers of records that an attempt left out, because the run has reached its limit. */
interface CutRecord extends Noted {
  readonly kind: 'cut';
  readonly prints: number;
  readonly calls: number;
}

export type CallRecord = PrintRecord | ModelOrToolRecord | CutRecord;
