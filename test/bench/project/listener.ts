import { appendFileSync } from 'node:fs';

interface Config {
  readonly configurable: Record<string, unknown>;
  readonly signal: AbortSignal;
}

/** Says that it listens; when its signal fires it notes the time in the file `heard` and ends. */
export async function* listener(_state: unknown, { configurable, signal }: Config) {
  yield { listens: true };
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  appendFileSync(String(configurable['heard']), `${Date.now()}\n`);
}
