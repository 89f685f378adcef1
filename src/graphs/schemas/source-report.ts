/** What the analysis of a source file says about its exports; plain data, for it crosses processes. */
import type { GraphSchemas } from '../schema-port.ts';

export interface SourceReport {
  /** `graph` also for a function that returns one; `function` is any other function. */
  readonly kind: 'graph' | 'function';
  readonly schemas: Partial<GraphSchemas>;
  /** Of graphs that are added as nodes somewhere in the file, by the name of the node. */
  readonly subgraphs: Readonly<Record<string, Partial<GraphSchemas>>>;
}

/** By export name; exports that are neither a graph nor a function are absent. */
export type FileReport = Readonly<Record<string, SourceReport>>;

export interface SourceQuestion {
  readonly file: string;
  readonly exportNames: readonly string[];
}

/** Where reports are kept. */
export interface SourceCache {
  /** Made when the first report is kept. */
  readonly dir: string;
  /** Of the program that reads: reports of another one are not used. */
  readonly version: string;
}

/** Message to the process that reads. */
export interface SourceTask {
  readonly question: SourceQuestion;
  readonly cache: SourceCache;
  /** Milliseconds of processor time. */
  readonly limitMs: number;
}

/** Message from the process that reads. */
export type SourceAnswer = { readonly report: FileReport } | { readonly problem: string };
