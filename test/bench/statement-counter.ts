/** A relay to PostgreSQL that counts what clients send: statements, and the waits for answers. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

export interface StatementCounter {
  readonly url: string;
  readonly counts: { statements: number; roundTrips: number };
}

/** Types of the frontend's messages that are counted; see "Message Formats" in PostgreSQL's manual. */
const COUNTED: Readonly<Record<string, keyof StatementCounter['counts']>> = {
  E: 'statements',
  S: 'roundTrips',
  H: 'roundTrips',
};
/** A simple query is both. */
const QUERY = 'Q';

export async function withStatementCounter<T>(
  target: string,
  use: (counter: StatementCounter) => Promise<T>,
): Promise<T> {
  const { hostname, port } = new URL(target);
  const counts = { statements: 0, roundTrips: 0 };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const read = reader((type) => {
      const counted = COUNTED[type];
      if (counted !== undefined) counts[counted] += 1;
      if (type === QUERY) {
        counts.statements += 1;
        counts.roundTrips += 1;
      }
    });
    client.on('data', read);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  try {
    return await use({ url: url.href, counts });
  } finally {
    server.close();
  }
}

/** Tells the type of each message of a connection, however its bytes are cut. */
function reader(onMessage: (type: string) => void): (chunk: Buffer) => void {
  let head = Buffer.alloc(0);
  /** Bytes of the current message that are yet to come. */
  let skip = 0;
  let isFirst = true;
  return (chunk) => {
    let data = head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
    head = Buffer.alloc(0);
    while (data.length > 0) {
      const passed = Math.min(skip, data.length);
      skip -= passed;
      data = data.subarray(passed);
      if (data.length === 0) return;
      // The first message has no type.
      const typed = isFirst ? 0 : 1;
      if (data.length < typed + 4) {
        head = Buffer.from(data);
        return;
      }
      if (typed === 1) onMessage(String.fromCharCode(data[0]!));
      isFirst = false;
      skip = typed + data.readUInt32BE(typed);
    }
  };
}
