/** Records the project files that this process has loaded, or read in order to load others. */

const files = new Set<string>();
let listener: ((file: string) => void) | undefined;

/** `file` is an absolute path. */
export function noteFile(file: string): void {
  if (files.has(file)) return;
  files.add(file);
  listener?.(file);
}

/** The files recorded so far. */
export const loadedFiles = (): readonly string[] => [...files];

/** Calls `onFile` once per file, at once for files already recorded. A new listener replaces the previous one. */
export function listenForFiles(onFile: (file: string) => void): void {
  listener = onFile;
  for (const file of files) onFile(file);
}
