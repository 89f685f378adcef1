/** Where a run failed, and what it did in vain without failing. Clients see neither. */
import type { Usage } from './usage.ts';

/** Source of a failure, for the server's log and replay. Clients see name and message only. */
export interface Origin {
  /**
   * Node names from the root graph to the failing node, joined by `|`; a plain function counts as a node of its graph's
   * name.
   */
  readonly node?: string;
  /** State channel whose reducer failed. */
  readonly channel?: string;
  readonly step?: number;
  /** What mends a failure of a usual cause. */
  readonly remedy?: string;
  /** Stack of at most 16 KiB; positions refer to the project's source files. */
  readonly stack?: string;
}

/** Something that a run did in vain without failing, in a sentence. */
export interface Warning extends Origin {
  readonly message: string;
}

/**
 * X7 What a task of a run's last attempt was served of earlier attempts, and what it asked again because no answer had come:
 * numbers of its calls, from 1.
 */
export interface RepeatedCalls {
  readonly node: string;
  readonly served: readonly number[];
  readonly again: readonly number[];
}

/** What `dev` sees of a run besides its end. */
export interface Observed {
  /** Steps of the root graph that executed nodes, or updates of a plain function. */
  readonly steps: number;
  readonly modelCalls: number;
  readonly warnings: readonly Warning[];
}

/** What the end of a run says of its last attempt besides its outcome. */
export interface Seen {
  readonly observed?: Observed | undefined;
  readonly repeated?: readonly RepeatedCalls[] | undefined;
  readonly usage?: Usage | undefined;
}
