/** Sends an exported thread to a running server. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Unavailable } from '../kernel/unavailable.ts';
import { CommandFailed, EXIT_DIFFERENT, EXIT_POISONED, EXIT_UNAVAILABLE, EXIT_USAGE } from './exit-codes.ts';

export interface SendOptions {
  readonly url: string;
  readonly newId?: boolean;
  /** Lines of the form `name: value`. */
  readonly header?: readonly string[];
}

/** Exit codes by status of the answer, equal to those of an import without a server. */
const CODES: Readonly<Record<number, number>> = {
  409: EXIT_USAGE,
  422: EXIT_UNAVAILABLE,
  507: EXIT_POISONED,
};

/** Returns the thread's id there. */
export async function sendFile(
  path: string,
  { url, newId = false, header = [] }: SendOptions,
): Promise<string> {
  const unreadable = (problem: string): Unavailable =>
    new Unavailable(`import: ${path} cannot be read: ${problem}`);
  // A folder would be sent as an empty body.
  const { isFile } = await stat(path).then(
    (found) => ({ isFile: found.isFile() }),
    (error: Error) => {
      throw unreadable(error.message);
    },
  );
  if (!isFile) throw unreadable('it is a folder or a device');
  const body = await openAsBlob(path);
  const headers = new Headers({ 'content-type': 'application/octet-stream' });
  for (const line of header) {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined)
      throw new CommandFailed(EXIT_USAGE, `--header: expected "name: value", found "${line}"`);
    headers.set(name, value!);
  }
  const target = `${url.replace(/\/+$/, '')}/threads/import${newId ? '?new_id=true' : ''}`;
  const response = await fetch(target, { method: 'POST', headers, body }).catch((error: Error) => {
    const { cause } = error as { cause?: { message?: string } };
    throw new Unavailable(`import: ${url} does not answer: ${cause?.message ?? error.message}`);
  });
  const text = await response.text();
  if (!response.ok)
    throw new CommandFailed(
      CODES[response.status] ?? EXIT_DIFFERENT,
      `import: ${url} answered ${response.status}: ${detailOf(text)}`,
    );
  return String((JSON.parse(text) as { thread_id?: unknown }).thread_id);
}

function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail ?? text);
  } catch {
    return text;
  }
}
