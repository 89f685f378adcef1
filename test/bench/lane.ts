/**
 * A client that costs little: one connection, one request at a time, and of HTTP no more than the servers here send. It
 * shares the machine with what it measures, so what it saves is what they get.
 */
import { connect } from 'node:net';

export interface Reply {
  readonly status: number;
  /** As it came: a chunked body with the lengths of its chunks. */
  readonly body: string;
  /** Milliseconds until the reply was complete. */
  readonly ms: number;
  /** Milliseconds until the first frame of a stream, if there was one. */
  readonly firstMs: number | undefined;
}

/** Of a chunked body. */
const END = '\r\n0\r\n\r\n';

export interface Lane {
  ask(method: string, path: string, body?: unknown, onText?: (text: string) => void): Promise<Reply>;
  close(): void;
}

/** Rejects with the connection's fault. */
export async function openLane(base: string): Promise<Lane> {
  const { hostname, port, host } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let receive: (text: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => receive(text));
  socket.on('error', (error) => fail(error));
  socket.on('close', () => fail(new Error('the server closed the connection')));

  return {
    ask: (method, path, body, onText) =>
      new Promise((resolve, reject) => {
        fail = reject;
        const from = performance.now();
        let firstMs: number | undefined;
        let text = '';
        // Looking at the end of the whole text would copy it for every frame.
        let tail = '';
        let bodyAt = -1;
        let length: number | undefined;
        receive = (more) => {
          text += more;
          tail = (tail + more).slice(-END.length);
          onText?.(more);
          if (bodyAt < 0) {
            const end = text.indexOf('\r\n\r\n');
            if (end < 0) return;
            bodyAt = end + 4;
            const found = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, bodyAt));
            length = found?.[1] === undefined ? undefined : Number(found[1]);
          }
          if (firstMs === undefined && text.includes('event: ', bodyAt)) firstMs = performance.now() - from;
          const isWhole = length === undefined ? tail === END : text.length - bodyAt >= length;
          if (!isWhole) return;
          const reply = { status: Number(text.slice(9, 12)), body: text.slice(bodyAt), firstMs };
          resolve({ ...reply, ms: performance.now() - from });
        };
        const data = body === undefined ? '' : JSON.stringify(body);
        socket.write(
          `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n` +
            (data === '' ? '' : `content-type: application/json\r\n`) +
            `content-length: ${Buffer.byteLength(data)}\r\n\r\n${data}`,
        );
      }),
    close: () => socket.destroy(),
  };
}
