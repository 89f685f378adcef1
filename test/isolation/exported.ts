/** The smallest file of an exported thread, as anybody can make it. */
import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';

export function exportedThread(threadId: string, metadata: object): Uint8Array {
  const data = JSON.stringify({ threadId, metadata, temporary: false });
  const records = [
    {
      ...{ kind: 'header', program: '0.1.0', exportedAt: 1, thread: { id: threadId } },
      ...{ graphs: [], assistants: [], libraries: {} },
    },
    {
      ...{ kind: 'event', stream: `thread-${threadId}`, version: 1, type: 'ThreadCreated', schema: 1 },
      ...{ at: 1, encoding: 'json', bytes: Buffer.byteLength(data) },
    },
    { kind: 'end', counts: { header: 1, event: 1 } },
  ].map((record) => JSON.stringify(record));
  const [header, event, end] = records;
  const packed = zstdCompressSync(Buffer.from(`${header}\n${event}\n${data}\n${end}\n`));
  const bytes = Buffer.concat([Buffer.from('rewound-export 1\n'), packed]);
  const digest = createHash('sha256').update(bytes).digest('hex');
  return Buffer.concat([bytes, Buffer.from(`\nsha256 ${digest}\n`)]);
}
