import type { Json } from '../../kernel/json.ts';

/** The first place where a re-execution differs from the log. */
export interface Divergence {
  readonly what: 'checkpoint' | 'write' | 'frame' | 'end' | 'id';
  readonly step?: number;
  /** Node path from the root graph, joined by `|`. */
  readonly node?: string;
  readonly channel?: string;
  /** Path within the value. */
  readonly path?: string;
  /** Undefined when this side has nothing there. */
  readonly recorded: Json | undefined;
  readonly found: Json | undefined;
}
