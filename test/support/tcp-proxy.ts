import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly url: string;
  /** How many connections were made to it. */
  readonly connections: number;
  /** The next connection dies after so many bytes towards the client. */
  dieAfter(bytes: number): void;
  /** The next connection says nothing any more after so many bytes towards the client. */
  fallSilentAfter(bytes: number): void;
  /** Every connection dies with the next answer, which is lost. */
  swallow(): void;
  /** The next commit is done and its answer is lost: every connection dies then, and each new one until `comeBack`. */
  goAwayAfterCommit(): void;
  /** Every connection dies now. */
  cut(): void;
  /** Every connection dies now, and each new one until `comeBack`. */
  goAway(): void;
  /** Nothing comes through any connection, old or new, until `comeBack`; with a direction, nothing that flows in it. */
  hang(direction?: Direction): void;
  /** `old`: connections that hang go on, or stay silent without an end. */
  comeBack(old?: 'go on' | 'stay silent'): void;
}

export type Direction = 'requests' | 'answers';

/** The end of a pipeline, as PostgreSQL's clients send it, and the first byte of the answer to it. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const READY_FOR_QUERY = { first: 0x5a, bytes: 6 };
/** Only pipelines that write are so long. */
const MIN_COMMIT_BYTES = 400;

/** Lends a relay to the server at `target` that can lose connections without a word. */
export async function withTcpProxy<T>(target: string, use: (proxy: TcpProxy) => Promise<T>): Promise<T> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const relays = new Set<{ readonly client: Socket; readonly upstream: Socket }>();
  let connections = 0;
  let isAway = false;
  let hanging: Direction | 'both' | undefined;
  let awaitsCommit = false;
  const budgets: { left: number; then: 'die' | 'be silent' }[] = [];
  const lines = new Set<{ left: number }>();

  const cut = (): void => open.forEach((socket) => socket.destroy());
  function goAway(): void {
    isAway = true;
    cut();
  }

  function hold({ client, upstream }: { client: Socket; upstream: Socket }): void {
    if (hanging !== 'answers') client.pause();
    if (hanging !== 'requests') upstream.pause();
  }

  const server = createServer((client) => {
    connections += 1;
    if (isAway) {
      client.resetAndDestroy();
      return;
    }
    const line = budgets.shift() ?? { left: Infinity, then: 'die' };
    lines.add(line);
    const upstream = connect(Number(port), hostname);
    const relay = { client, upstream };
    relays.add(relay);
    const drop = (): void => {
      relays.delete(relay);
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
    upstream.on('data', (chunk: Buffer) => {
      if (hasCommitted) {
        if (chunk.at(-READY_FOR_QUERY.bytes) === READY_FOR_QUERY.first) goAway();
        return;
      }
      const part = chunk.subarray(0, line.left);
      line.left -= part.length;
      if (line.left > 0 || line.then === 'be silent') client.write(part);
      else client.write(part, drop);
    });
    if (hanging !== undefined) hold(relay);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      get connections() {
        return connections;
      },
      dieAfter: (left) => void budgets.push({ left, then: 'die' }),
      fallSilentAfter: (left) => void budgets.push({ left, then: 'be silent' }),
      swallow: () => lines.forEach((line) => (line.left = 0)),
      cut,
      goAway,
      goAwayAfterCommit: () => void (awaitsCommit = true),
      hang(direction) {
        hanging = direction ?? 'both';
        relays.forEach(hold);
      },
      comeBack(old = 'go on') {
        isAway = awaitsCommit = false;
        hanging = undefined;
        if (old === 'go on') for (const socket of open) socket.resume();
      },
    });
  } finally {
    cut();
    server.close();
  }
}
