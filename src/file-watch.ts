/** Watches folders for changed files, whether editors write in place or replace the file. */
import { watch, type FSWatcher } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from './kernel/clock.ts';

/** Collects changes: an editor may write a file in several steps, and several files at once. */
const DEFAULT_DELAY_MS = 200;

export interface FileWatch {
  /** Watches the folder of `file`, not its subfolders. */
  add(file: string): void;
  close(): void;
}

export interface FileWatchOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Called at once for each change of a file in a watched folder; false ignores it. */
  readonly accept: (file: string) => boolean;
  /** Receives the absolute paths of the accepted files. */
  readonly onChange: (files: ReadonlySet<string>) => void;
  readonly delayMs?: number;
}

export function watchFiles({
  clock,
  accept,
  onChange,
  delayMs = DEFAULT_DELAY_MS,
}: FileWatchOptions): FileWatch {
  const folders = new Map<string, FSWatcher>();
  let changed = new Set<string>();
  let cancel: () => void = () => undefined;

  function note(file: string): void {
    if (!accept(file)) return;
    changed.add(file);
    cancel();
    cancel = clock.after(delayMs, () => {
      const files = changed;
      changed = new Set();
      onChange(files);
    });
  }

  return {
    add(file) {
      const folder = dirname(file);
      if (folders.has(folder)) return;
      let watcher: FSWatcher;
      try {
        watcher = watch(folder, (_, name) => {
          if (name !== null) note(join(folder, name));
        });
      } catch {
        // A missing folder cannot be watched; its files are reported as missing at load.
        return;
      }
      folders.set(folder, watcher);
      // Deleting a folder ends its watch; the next file loaded from it starts a new one.
      watcher.on('error', () => folders.delete(folder));
    },
    close() {
      cancel();
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}
