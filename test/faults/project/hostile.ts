/** Graphs as nobody should write them. */
import { Annotation, StateGraph } from '@langchain/langgraph';

interface Config {
  configurable: Record<string, unknown>;
  signal: AbortSignal;
  writer(chunk: unknown): Promise<void>;
}

const later = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const fine = (_state: unknown) => ({ fine: true });

export async function rejectsUnheard() {
  void Promise.reject(new Error('nobody hears this'));
  await later(5);
  return { after: 'rejection' };
}

export async function throwsLater() {
  setTimeout(() => {
    throw new Error('nobody catches this');
  }, 1);
  await later(10);
  return { after: 'exception' };
}

export const throwsLaterAndHangs = () =>
  new Promise(() => {
    setTimeout(() => {
      throw new Error('nobody catches this, and nobody resolves');
    }, 1);
  });

export const throwsNull = () => {
  throw null;
};

export const throwsOddly = () => {
  const odd: Record<string, unknown> = {
    get message(): string {
      throw new Error('no message for you');
    },
  };
  odd['self'] = odd;
  throw odd;
};

const circular = (): object => {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
};

export const returnsCircular = () => ({ value: circular() });
export const returnsFunction = () => ({ value: () => 1 });
export const returnsNonsense = () => 'not an update';
export const yieldsBigInt = () => ({ value: 10n });
export function* yieldsThenFails() {
  yield { kept: 1 };
  yield { value: () => 1 };
}
export const returnsHuge = () => ({ value: 'x'.repeat(24_000_000) });

export const neverEnds = () => new Promise(() => undefined);

export async function* ignoresSignal() {
  for (let i = 0; ; i++) {
    await later();
    yield { i };
  }
}

export const writesCircular = async (_state: unknown, { writer }: Config) => {
  await writer(circular());
  return { after: 'writing' };
};

export async function* yieldsMuch(_state: unknown, { configurable }: Config) {
  for (let i = 1; i <= Number(configurable['count']); i++) yield { i };
}

export async function writesMuch(_state: unknown, { configurable, writer }: Config) {
  // Not awaited: whoever writes so does not care how fast anybody reads.
  for (let i = 1; i <= Number(configurable['count']); i++) void writer({ i });
  return { wrote: Number(configurable['count']) };
}

/** Its interval goes on writing when the run is over. */
export const goesOnAfterItsEnd = (_state: unknown, { writer }: Config) => {
  let i = 0;
  const timer = setInterval(() => {
    void writer({ late: i });
    if (i++ > 50) clearInterval(timer);
  }, 1);
  return { ended: true };
};

const State = Annotation.Root({ value: Annotation<unknown>() });

export const nodeThrowsNull = new StateGraph(State)
  .addNode('only', () => {
    throw null;
  })
  .addEdge('__start__', 'only');

export const nodeReturnsCircular = new StateGraph(State)
  .addNode('only', () => ({ value: circular() }))
  .addEdge('__start__', 'only');
