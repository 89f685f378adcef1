import type { Ask } from '../ask.ts';
import type { Run, WorkContext } from '../work.ts';

/** A log that is read in one transaction: each step and question sees the same moment. */
export interface Reading {
  readonly context: WorkContext;
  readonly run: Run;
  readonly ask: Ask;
  /** Bytes of the log. */
  size(): Promise<number>;
  close(): Promise<void>;
}
