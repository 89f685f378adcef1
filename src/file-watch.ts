/** Tells that files changed, however an editor writes them: in place, or as a new file that takes the name. */
import { watch, type FSWatcher } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from './kernel/clock.ts';

/** An editor may write a file in several steps, and several files at once. */
const DEFAULT_DELAY_MS = 200;

export interface FileWatch {
  /** Watches the folder of `file`, without the folders below it. */
  add(file: string): void;
  close(): void;
}

export interface FileWatchOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Gets absolute paths of all files that changed in the watched folders. */
  readonly onChange: (files: ReadonlySet<string>) => void;
  readonly delayMs?: number;
}

export function watchFiles({ clock, onChange, delayMs = DEFAULT_DELAY_MS }: FileWatchOptions): FileWatch {
  const folders = new Map<string, FSWatcher>();
  let changed = new Set<string>();
  let cancel: () => void = () => undefined;

  function note(file: string): void {
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
        // The folder does not exist, and what should be in it is missing from the start.
        return;
      }
      folders.set(folder, watcher);
      // A folder that is deleted ends its watch; the next file that is loaded from it begins another.
      watcher.on('error', () => folders.delete(folder));
    },
    close() {
      cancel();
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}
