/** Projects that tests write file by file. */
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export const FUNCTION = 'export const graph = () => ({ seen: process.env.SEEN ?? null });\n';

/** Writes a project: file names and their texts, objects as JSON. */
export async function project(dir: string, files: Record<string, string | object>): Promise<string> {
  await mkdir(dir, { recursive: true });
  for (const [name, content] of Object.entries(files))
    await writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  return dir;
}

/** Lends a port that another server has. */
export async function withTakenPort<T>(use: (port: number) => Promise<T>): Promise<T> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  try {
    return await use((holder.address() as AddressInfo).port);
  } finally {
    holder.close();
  }
}
