/** Parts of states, and of the checkpoints that they are read from. */
/** A part of a state: what is not in it need not be read. */
export interface StatePart {
  /** Keys of the values. */
  readonly keys: readonly string[];
  /** The nodes still to run, and what they ask. */
  readonly next: boolean;
  /** The tasks, with their results and the states within them. */
  readonly tasks: boolean;
}

/** Of the channels that make up the state only these come with a checkpoint; the runtime's own always come. */
export interface ChannelChoice {
  readonly names: readonly string[];
  /** Channels that tasks have written to come too. */
  readonly written: boolean;
}
