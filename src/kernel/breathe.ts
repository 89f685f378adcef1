/** Yields to the event loop once; for long work that is done in small steps. */
export const breathe = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

let shared: Promise<void> | undefined;

/** Yields like `breathe`; all callers of one turn continue together, so that what they send shares a write. */
export const breatheTogether = (): Promise<void> =>
  (shared ??= new Promise((resolve) =>
    realImmediate(() => {
      shared = undefined;
      resolve();
    }),
  ));

const { setImmediate: realImmediate } = globalThis;
