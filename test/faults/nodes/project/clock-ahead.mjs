/** Preloaded into a server: the clock of its machine is ten minutes ahead. */
const AHEAD_MS = 600_000;
const Real = Date;

globalThis.Date = class extends Real {
  constructor(...args) {
    if (args.length === 0) super(Real.now() + AHEAD_MS);
    else super(...args);
  }
  static now() {
    return Real.now() + AHEAD_MS;
  }
};
