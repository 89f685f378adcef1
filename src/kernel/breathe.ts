/** Lets everything else have its turn: for long work in small steps that would otherwise keep the process to itself. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Does it after all that the event loop has for this turn. As the function is now: code of a graph may replace it. */
export const inNextTurn: (work: () => void) => void = setImmediate;
