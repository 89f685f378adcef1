/** How far a long piece of work has come. */
export interface Reached {
  /** What is being done, such as "checking events". */
  readonly phase: string;
  readonly done: number;
  /** Undefined while it is not known. */
  readonly total?: number | undefined;
  readonly unit: 'events' | 'bytes' | 'pages' | 'tables';
}

/** Hears of progress; called as often as convenient, so it has to return quickly. */
export type OnProgress = (reached: Reached) => void;
