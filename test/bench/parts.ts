/** Starts the processes of the benchmark: whoever asks never shares a thread with whoever answers. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type {
  EngineOrder,
  EngineTurnsOrder,
  Figure,
  LoadOrder,
  PartOrder,
  StreamFigures,
  Turns,
} from './figures.ts';

const start = (file: string) =>
  fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ['--import', 'tsx'] });

async function ask(order: PartOrder): Promise<unknown> {
  const part = start('./part.ts');
  return new Promise((resolve, reject) => {
    part.once('message', ({ result, error }: { result?: unknown; error?: string }) =>
      error === undefined ? resolve(result) : reject(new Error(error)),
    );
    part.once('exit', (code) => reject(new Error(`a part of the benchmark ended with ${code}`)));
    part.send(order);
  });
}

export const askLoop = (order: LoadOrder & { kind: 'loop' }) => ask(order) as Promise<Figure>;
export const askTurns = (order: (LoadOrder & { kind: 'turns' }) | EngineTurnsOrder) =>
  ask(order) as Promise<Turns>;
export const askStreams = (order: LoadOrder & { kind: 'streams' }) => ask(order) as Promise<StreamFigures>;
export const askEngine = (order: EngineOrder) => ask(order) as Promise<Figure>;

/** A bare server with `node:http` or Hono; `close` ends it. */
export async function startBare(kind: 'http' | 'hono'): Promise<{ base: string; close(): void }> {
  const part = start('./bare.ts');
  const base = await new Promise<string>((resolve, reject) => {
    part.once('message', (address: string) => resolve(address));
    part.once('exit', (code) => reject(new Error(`the bare server ended with ${code}`)));
    part.send(kind);
  });
  return { base, close: () => part.kill() };
}
