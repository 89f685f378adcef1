/** Starts the processes of the benchmark: whoever asks never shares a thread with whoever answers. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { withTempDir } from '../support/temp-dir.ts';
import type {
  BareOrder,
  EngineOrder,
  EngineTurnsOrder,
  Figure,
  LoadOrder,
  PartOrder,
  SizingFigures,
  SizingOrder,
  StreamFigures,
  Turns,
} from './figures.ts';

const start = (file: string) =>
  fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ['--import', 'tsx'] });

async function end(part: ChildProcess): Promise<void> {
  if (part.exitCode !== null || part.signalCode !== null) return;
  const ended = once(part, 'exit');
  part.kill();
  await ended;
}

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
export const askSizing = (order: SizingOrder) => ask(order) as Promise<SizingFigures>;
export const askEngine = (order: EngineOrder) => ask(order) as Promise<Figure>;

/** Lends the time in which another engine keeps a core busy. */
export async function withBusyEngine<T>(use: () => Promise<T>): Promise<T> {
  const part = start('./part.ts');
  part.send({ kind: 'engine', lanes: 32, seconds: 3_600 } satisfies EngineOrder);
  return use().finally(() => end(part));
}

/** Lends the address of a bare server. */
export const withBare = <T>(what: BareOrder['what'], use: (base: string) => Promise<T>): Promise<T> =>
  withTempDir(async (dir) => {
    const part = start('./bare.ts');
    try {
      const base = await new Promise<string>((resolve, reject) => {
        part.once('message', (address: string) => resolve(address));
        part.once('exit', (code) => reject(new Error(`the bare server ended with ${code}`)));
        part.send({ what, dir } satisfies BareOrder);
      });
      return await use(base);
    } finally {
      await end(part);
    }
  });
