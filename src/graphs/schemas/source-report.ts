/** The result of a source analysis and its messages; plain data, because it crosses processes. */
import type { GraphSchemas } from '../schema-port.ts';

export interface SourceReport {
  /** `graph`: a graph or a function that returns one; `function`: any other function. */
  readonly kind: 'graph' | 'function';
  readonly schemas: Partial<GraphSchemas>;
  /** Schemas of graphs that project files add as nodes, by node name. */
  readonly subgraphs: Readonly<Record<string, Partial<GraphSchemas>>>;
}

/** Reports by export name; exports that are neither a graph nor a function are absent. */
export type FileReport = Readonly<Record<string, SourceReport>>;

export interface SourceQuery {
  readonly file: string;
  readonly exportNames: readonly string[];
}

export interface SourceCache {
  /** The cache folder; it is created with the first report. */
  readonly dir: string;
  /** This program's version: reports of other versions are not used. */
  readonly version: string;
}

/** The message to the child process. */
export interface SourceTask {
  readonly query: SourceQuery;
  readonly cache: SourceCache;
  /** Milliseconds of processor time. */
  readonly limitMs: number;
}

/** The message from the child process. */
export type SourceReply = { readonly report: FileReport } | { readonly problem: string };
