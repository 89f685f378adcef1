/** Stops a debugger in functions of graph code. Open it before a sandbox, which closes the inspector. */
import inspector from 'node:inspector';

export interface Debugger {
  /** The debugger stops at the function's first statement, at each call. */
  breakOn(fn: unknown): void;
}

/** The global name under which the inspector sees the function. */
const NAME = Symbol.for('function to stop in');

/** Waits for a debugger, unless the process was started by one. */
export function openDebugger(print: (line: string) => void): Debugger {
  if (inspector.url() === undefined) {
    inspector.open(0, '127.0.0.1');
    print(`debugger: ${inspector.url() ?? ''} (chrome://inspect); waiting for it`);
    inspector.waitForDebugger();
  }
  const session = new inspector.Session();
  session.connect();
  session.post('Debugger.enable');
  return {
    breakOn(fn) {
      const shared = globalThis as { [NAME]?: unknown };
      shared[NAME] = fn;
      const expression = `globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(NAME))})]`;
      // Replies of a session in its own thread arrive before `post` returns.
      session.post('Runtime.evaluate', { expression }, (_, { result: { objectId } }) => {
        session.post('Debugger.setBreakpointOnFunctionCall', { objectId });
      });
      delete shared[NAME];
    },
  };
}
