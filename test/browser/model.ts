/** The model that the graph `travel` asks, and the gate that `tokens` waits at. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const CALLS = {
  content: 'Let me look at trains and hotels.',
  tool_calls: [
    { id: 'call_trains', name: 'search_trains', args: { from: 'Ulm', to: 'Rome' } },
    { id: 'call_hotels', name: 'search_hotels', args: { city: 'Rome', nights: 3 } },
  ],
  usage_metadata: { input_tokens: 812, output_tokens: 41, total_tokens: 853 },
};
const PROPOSAL = {
  content: 'The night train costs 89 €. I found no hotel. Shall I book the train?',
  usage_metadata: { input_tokens: 930, output_tokens: 33, total_tokens: 963 },
};

export interface Model {
  readonly url: string;
  /** Lets all pass that wait at the gate, now or later. */
  openGate(): void;
  closeGate(): void;
  close(): void;
}

export async function openModel(): Promise<Model> {
  let isOpen = false;
  const waiting = new Set<() => void>();
  const server = createServer(async (request, reply) => {
    const body = Buffer.concat(await request.toArray()).toString();
    reply.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.endsWith('/gate') === true) {
      if (!isOpen) await new Promise<void>((resolve) => waiting.add(resolve));
      return void reply.end('{}');
    }
    reply.end(JSON.stringify(body.includes('3 trains') ? PROPOSAL : CALLS));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/chat`,
    openGate() {
      isOpen = true;
      for (const pass of waiting) pass();
      waiting.clear();
    },
    closeGate: () => void (isOpen = false),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
