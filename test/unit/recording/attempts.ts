/** Attempts at a run with one task, whose requests go to a server of the test's own. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { interceptClock } from '../../../src/recording/clock.ts';
import { interceptDispatchers, interceptFetch } from '../../../src/recording/dispatchers.ts';
import { openKeeper, type Keeper } from '../../../src/recording/keeper.ts';
import { unpackKept, type KeptPart } from '../../../src/recording/kept-calls.ts';
import { interceptNodeHttp } from '../../../src/recording/node-http.ts';
import { interceptRandomness } from '../../../src/recording/randomness.ts';
import { insideSession } from '../../../src/recording/session.ts';

interceptClock();
interceptRandomness();
interceptFetch();
interceptDispatchers(true);
interceptNodeHttp();

type Answer = (request: IncomingMessage, reply: ServerResponse, count: number) => void;

/** Numbers its answers. */
export async function withModel(
  use: (url: string, asked: string[]) => Promise<void>,
  answer: Answer = (_, reply, count) => void reply.end(`answer ${count}`),
): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    request.resume().on('end', () => answer(request, reply, asked.push(request.url!)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export const taskAt = (ns: string, node = 'model') => ({
  metadata: { langgraph_step: 1, langgraph_node: node, langgraph_checkpoint_ns: ns },
  configurable: { checkpoint_map: { '': 'base' } },
});
const TASK = taskAt('model:1');

interface Attempt {
  readonly parts: readonly KeptPart[];
  readonly keeper: Keeper;
}

/** Executes `work` as an attempt after `earlier` ones, in a task. Its parts are those of all attempts. */
export async function attempt(
  work: (keeper: Keeper) => Promise<unknown>,
  earlier: readonly Attempt[] = [],
  { task = TASK, charges = earlier.length, maxBytes = 1_000_000 } = {},
): Promise<Attempt> {
  const kept = earlier.at(-1)?.parts ?? [];
  const parts = [...kept];
  const keeper = openKeeper({
    ...{
      attempt: earlier.length + 1,
      charges,
      seed: randomUUID(),
      maxBytes,
      kept,
      keptBytes: 0,
      keys: false,
    },
    write: (bytes) => void parts.push(unpackKept(bytes)),
  });
  keeper.configOf = () => task;
  await insideSession(keeper, () => work(keeper));
  return { parts, keeper };
}
