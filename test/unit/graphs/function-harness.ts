import type { JsonObject } from '../../../src/kernel/json.ts';
import type { RunEnd } from '../../../src/graphs/port.ts';
import type { StreamMode } from '../../../src/protocol/stream-modes.ts';
import { openBench, type Bench } from './harness.ts';

export type State = Record<string, unknown> & { messages: JsonObject[] };
export interface Config {
  configurable: JsonObject;
  metadata: JsonObject;
  context: unknown;
  tags: string[];
  signal: AbortSignal;
  runId: string;
  threadId: string;
  attempt: number;
  writer(chunk: unknown): Promise<void>;
  interrupt(value: unknown): unknown;
}
export const plain = (fn: (state: State, config: Config) => unknown): Bench =>
  openBench((state: State, config: Config) => fn(state, config));

export const ALL: StreamMode[] = ['values', 'updates', 'messages-tuple', 'custom', 'events'];
export const success: RunEnd = { kind: 'success', next: [], interrupts: {} };
export const valuesOf = async (bench: Bench): Promise<JsonObject> =>
  (await bench.state()).values as JsonObject;
export const sources = (bench: Bench) =>
  bench.checkpoints.saved.map(({ source, step }) => `${source} ${step}`);

/** Asks twice with an update before, between and after; counts what it does. */
export const survey = () => {
  const did: string[] = [];
  const bench = plain(async function* (state: State, { interrupt, writer }: Config) {
    did.push('called');
    await writer('start');
    yield { log: [state['topic']] };
    await writer('asking');
    const name = interrupt({ ask: 'name' });
    await writer(`name ${String(name)}`);
    yield { name };
    const age = interrupt({ ask: 'age' });
    yield { age };
  });
  return { bench, did };
};
