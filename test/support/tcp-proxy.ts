import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly url: string;
  /** How many connections were made to it. */
  readonly connections: number;
  /** The next connection dies after so many bytes towards the client. */
  dieAfter(bytes: number): void;
  /** Every connection dies with the next answer, which is lost. */
  swallow(): void;
  /** The next commit is done and its answer is lost: every connection dies then, and each new one until `comeBack`. */
  goAwayAfterCommit(): void;
  /** Every connection dies now. */
  cut(): void;
  /** Every connection dies now, and each new one until `comeBack`. */
  goAway(): void;
  /** Nothing comes through any connection, old or new, until `comeBack`. */
  hang(): void;
  comeBack(): void;
}

/** The end of a pipeline, as PostgreSQL's clients send it, and the first byte of the answer to it. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const READY_FOR_QUERY = { first: 0x5a, bytes: 6 };
/** Only pipelines that write are so long. */
const MIN_COMMIT_BYTES = 400;

/** Lends a relay to the server at `target` that can lose connections without a word. */
export async function withTcpProxy<T>(target: string, use: (proxy: TcpProxy) => Promise<T>): Promise<T> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let connections = 0;
  let isAway = false;
  let isHanging = false;
  let awaitsCommit = false;
  const budgets: number[] = [];
  const lines = new Set<{ left: number }>();

  const cut = (): void => open.forEach((socket) => socket.destroy());
  function goAway(): void {
    isAway = true;
    cut();
  }

  const server = createServer((client) => {
    connections += 1;
    if (isAway) {
      client.resetAndDestroy();
      return;
    }
    const line = { left: budgets.shift() ?? Infinity };
    lines.add(line);
    const upstream = connect(Number(port), hostname);
    const drop = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', drop);
      socket.on('close', () => {
        open.delete(socket);
        drop();
      });
    }
    client.pipe(upstream);
    let hasCommitted = false;
    client.on('data', (chunk: Buffer) => {
      if (!awaitsCommit || chunk.length < MIN_COMMIT_BYTES || !chunk.subarray(-5).equals(SYNC)) return;
      awaitsCommit = false;
      hasCommitted = true;
    });
    if (isHanging) for (const socket of [client, upstream]) socket.pause();
    upstream.on('data', (chunk: Buffer) => {
      if (hasCommitted) {
        if (chunk.at(-READY_FOR_QUERY.bytes) === READY_FOR_QUERY.first) goAway();
        return;
      }
      const part = chunk.subarray(0, line.left);
      line.left -= part.length;
      if (line.left > 0) client.write(part);
      else client.write(part, drop);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      get connections() {
        return connections;
      },
      dieAfter: (bytes) => void budgets.push(bytes),
      swallow: () => lines.forEach((line) => (line.left = 0)),
      cut,
      goAway,
      goAwayAfterCommit: () => void (awaitsCommit = true),
      hang() {
        isHanging = true;
        for (const socket of open) socket.pause();
      },
      comeBack() {
        isAway = isHanging = awaitsCommit = false;
        for (const socket of open) socket.resume();
      },
    });
  } finally {
    cut();
    server.close();
  }
}
