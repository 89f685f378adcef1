/** What the analysis of a source file says about one of its exports; plain data, for it crosses threads. */
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
