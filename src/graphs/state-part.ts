/** Projections of states and checkpoints. */
/** The part of a state that a query needs; the rest is not read. */
export interface StatePart {
  /** Top-level keys of the values. */
  readonly keys: readonly string[];
  /** Includes the nodes still to run and their interrupts. */
  readonly next: boolean;
  /** Includes the tasks with their results and subgraph states. */
  readonly tasks: boolean;
}

/** Selects the state channels to load with a checkpoint. Channels of the runtime are always loaded. */
export interface ChannelChoice {
  readonly names: readonly string[];
  /** Includes channels with pending writes. */
  readonly written: boolean;
}
