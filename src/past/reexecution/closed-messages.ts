/** Messages between the process that judges and the closed one, which executes one run at a time. */
import type { GraphSpec } from '../../graphs/loader.ts';
import type { StoredCheckpoint } from '../../store/port/payloads.ts';
import type { Reexecution, ReexecutionOptions } from './execute.ts';
import type { Pauses } from './pauses.ts';
import type { RunData } from './run-data.ts';

/** Reads of the log while a run is executed. */
export type LogReads = Pick<RunData, 'before' | 'listBefore' | 'writesBefore'>;

/** A debugger is out of reach. */
export type ClosedOptions = Omit<ReexecutionOptions, 'pauses'> & { readonly pauses?: Pick<Pauses, 'before'> };

/** The first message. */
export interface Opening {
  readonly graphs: readonly GraphSpec[];
  /** Variables that override those of recordings. */
  readonly env: Readonly<Record<string, string>>;
}

/** A run, with the checkpoints that it begins with: their reads are over at once. */
export interface ClosedRun {
  readonly data: Omit<RunData, keyof LogReads>;
  readonly known: readonly StoredCheckpoint[];
  readonly options: ClosedOptions;
}

export type ToClosed =
  | { readonly kind: 'leave' }
  | ({ readonly kind: 'run' } & ClosedRun)
  | { readonly kind: 'read'; readonly id: number; readonly value?: unknown; readonly error?: string };

export type FromClosed =
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly name: keyof LogReads;
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'end'; readonly result: Reexecution }
  | { readonly kind: 'failed'; readonly reason: string };
