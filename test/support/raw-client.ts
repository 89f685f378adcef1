/** Clients below HTTP, which do with a connection what no library would. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Connected; its errors are nobody's. */
export async function openRaw(port: number, text = '', from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

/** Everything that comes until the connection ends, one way or the other. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // Not `once`, which an error would reject: how it ended is for the caller to see.
  if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

/** Resolves when what has come so far contains the text. */
export function heard(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const onData = (chunk: Buffer): void => {
      seen += chunk.toString('latin1');
      if (!seen.includes(text)) return;
      socket.off('data', onData);
      resolve();
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(seen.slice(0, 500))}`)));
  });
}

export const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;

/** `body`: ASCII. */
export const postJson = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

export const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
  'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';

/** A frame as clients send them, with a mask of zeros. `announced` lies about the length. */
export function webSocketFrame(
  opcode: number,
  payload: Buffer,
  { last = true, announced = payload.length }: { last?: boolean; announced?: number } = {},
): Buffer {
  const head = Buffer.alloc(14);
  head[0] = (last ? 0x80 : 0) | opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(announced), 2);
  return Buffer.concat([head, payload]);
}
