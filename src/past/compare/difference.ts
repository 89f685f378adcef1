import type { Json } from '../../kernel/json.ts';

/** One place where two executions differ: of one run, or of two runs. */
export interface Difference {
  readonly what: 'input' | 'step' | 'state' | 'checkpoint' | 'write' | 'frame' | 'end' | 'request' | 'store';
  readonly step?: number;
  /** Node path from the root graph, joined by `|`. */
  readonly node?: string;
  /** Channel, or mode of a frame. */
  readonly channel?: string;
  /** Path within the value, such as `[2].content`; empty for the value itself. */
  readonly path?: string;
  /** Side of the log, or of the first run. Undefined when this side has nothing there. */
  readonly recorded: Json | undefined;
  /** Side of the re-execution, or of the second run. */
  readonly found: Json | undefined;
}

export type ValueDifference = Pick<Difference, 'recorded' | 'found'> & { readonly path: string };

/** Path of a place within the member or element `at`. */
export const joinPaths = (at: string, path: string): string =>
  at === '' || path === '' || path.startsWith('[') ? at + path : `${at}.${path}`;
