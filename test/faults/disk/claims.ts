/** What a server told its clients, and where that must be in its log from then on. */
import type { WebhookSink } from '../../support/webhook-sink.ts';
import { collect } from '../../e2e/frames.ts';
import type { ServerProgram } from '../../e2e/programs.ts';

export interface Claim {
  readonly what: string;
  /** Milliseconds since 1970, rounded up: no earlier than it was heard. */
  readonly heardAt: number;
  /** From here on the client itself undoes it. */
  readonly untilAt: number;
  /** Text that is written with it and not before. */
  readonly trace?: string;
  /** Finds a row while it holds. */
  readonly sql: string;
  readonly params: readonly unknown[];
}

const FACT = (type: string): string => `SELECT 1 FROM events WHERE type = '${type}' AND instr(data, ?)`;
const CREATED = "SELECT 1 FROM threads WHERE thread_id = ? AND metadata ->> '$.token' = ?";

/** Uses everything that commits, `rounds` times, and notes what was answered. */
export async function makeClaims(
  server: ServerProgram,
  sink: WebhookSink,
  rounds: number,
  prefix: string,
): Promise<Claim[]> {
  const claims: Claim[] = [];
  const hear = (what: string, sql: string, params: readonly unknown[], trace?: string): Claim => {
    const claim = { what, sql, params, heardAt: Date.now() + 1, untilAt: Infinity, ...(trace && { trace }) };
    claims.push(claim);
    return claim;
  };
  const undo = (undone: readonly Claim[]): void => {
    for (const claim of undone) claims[claims.indexOf(claim)] = { ...claim, untilAt: Date.now() };
  };

  for (let i = 0; i < rounds; i++) {
    const token = `${prefix}-${i}-end`;
    const thread = (await server.ask('POST', '/threads', { metadata: { token } })).json.thread_id;
    const ofThread = [hear('thread', CREATED, [thread, token], thread)];
    const path = `/threads/${thread}`;
    await server.ask('PATCH', path, { metadata: { patched: `patch ${token}` } });
    ofThread.push(hear('metadata', FACT('ThreadUpdated'), [`patch ${token}`], `patch ${token}`));

    const order = { assistant_id: 'echo', input: { messages: token } };
    const waited = await server.ask('POST', `${path}/runs/wait`, { ...order, webhook: sink.url() });
    const run = waited.headers.get('content-location')!.split('/').at(-1);
    ofThread.push(hear('answer', FACT('RunCompleted'), [run], `echo: ${token}`));
    ofThread.push(hear('run', "SELECT 1 FROM runs WHERE run_id = ? AND status = 'success'", [run]));

    const words = { assistant_id: 'echo', input: { messages: `more ${token}` }, stream_mode: ['updates'] };
    const stream = await server.open('POST', `${path}/runs/stream`, words);
    const streamed = stream.headers.get('content-location')!.split('/').at(-1);
    await collect(stream, ({ id, event, data }) => {
      const trace = event === 'updates' ? `echo: more ${token}` : undefined;
      const frame =
        'SELECT 1 FROM frames WHERE run = stored_id(?) AND ? BETWEEN first AND last AND instr(parts, ?) AND instr(data, ?)';
      ofThread.push(hear('frame', frame, [streamed, id, event, data], trace));
    });

    const item = { namespace: [prefix], key: `key ${i}`, value: { token: `value ${token}` } };
    await server.ask('PUT', '/store/items', item);
    const value = 'SELECT 1 FROM item_values WHERE instr(data, ?)';
    hear('item', value, [`value ${token}`], `value ${token}`);
    if (i % 2 === 0) continue;
    undo(ofThread);
    await server.ask('DELETE', path);
    hear('deletion', FACT('ThreadDeleted'), [thread]);
  }
  return claims;
}

/** What must be there of what a server had said when its power failed. */
export const heldAt = (claims: readonly Claim[], at: number): Claim[] =>
  claims.filter(({ heardAt, untilAt }) => heardAt <= at && at <= untilAt);
