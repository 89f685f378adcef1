import { existsSync, readFileSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** The lines that graphs left in the file, in order. */
export const marksOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

/** Resolves as soon as the file has a line `text`, and has it `times` times; its directory must exist. */
export function reached(file: string, text: string, times = 1): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (marksOf(file).filter((line) => line === text).length < times) return;
      watcher.close();
      resolve();
    };
    // Watched first, read after: a line that comes in between is seen twice rather than never.
    const watcher = watch(dirname(file), (_, name) => {
      if (name === null || name === basename(file)) look();
    });
    look();
  });
}
