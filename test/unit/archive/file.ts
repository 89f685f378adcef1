/** Files of exported threads in tests. */
import { readFile, writeFile } from 'node:fs/promises';
import { openExport, type ReadRecord } from '../../../src/archive/read.ts';
import { exportThread } from '../../../src/archive/write.ts';
import type { ThreadSource } from '../../../src/store/port/thread-source.ts';
import { THREAD } from '../../support/given.ts';

export async function writeExport(path: string, source: ThreadSource): Promise<Buffer> {
  const request = { threadId: THREAD, exportedAt: 5, libraries: { graphs: '1.0.0' } };
  await writeFile(path, exportThread(source, request));
  return readFile(path);
}

export async function readExport(path: string): Promise<ReadRecord[]> {
  const file = await openExport(path);
  const records: ReadRecord[] = [];
  try {
    for await (const record of file.records()) records.push(record);
  } finally {
    await file.close();
  }
  return records;
}
