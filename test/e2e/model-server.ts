/** A model behind HTTP. Its answers are numbered, so no two are equal; `/flaky` refuses every other request. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ModelServer {
  readonly url: string;
  /** Requests so far. */
  requests(): number;
}

export async function withModelServer<T>(use: (model: ModelServer) => Promise<T>): Promise<T> {
  let requests = 0;
  let flaky = 0;
  // A busy loop may not see that an idle connection was closed.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, reply) => {
    requests += 1;
    const text = `answer ${requests}`;
    request.resume();
    request.on('end', () => {
      if (request.url === '/flaky' && (flaky += 1) % 2 === 1) reply.writeHead(503).end();
      else if (request.url?.startsWith('/stream/') === true) {
        reply.writeHead(200, { 'content-type': 'text/plain' });
        reply.write(`${text}: `);
        reply.end(request.url);
      } else {
        reply.writeHead(200, {
          'content-type': 'application/json',
          'set-cookie': 'session=cookie-of-the-model',
        });
        reply.end(JSON.stringify({ text }));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await use({ url: `http://127.0.0.1:${port}`, requests: () => requests });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
