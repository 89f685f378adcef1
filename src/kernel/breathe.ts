/** Yields to the event loop once; for long work that is done in small steps. */
export const breathe = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

const { setImmediate: realImmediate } = globalThis;
