/** Lets everything else have its turn: for long work in small steps that would otherwise keep the process to itself. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
