/** The files of the project that this thread has loaded, or read to load others. */

const files = new Set<string>();
let listener: ((file: string) => void) | undefined;

/** `file` is an absolute path. */
export function noteFile(file: string): void {
  if (files.has(file)) return;
  files.add(file);
  listener?.(file);
}

/** Those that are known by now. */
export const loadedFiles = (): readonly string[] => [...files];

/** `onFile` gets each file once, those that are known already at once. The last listener replaces those before it. */
export function listenForFiles(onFile: (file: string) => void): void {
  listener = onFile;
  for (const file of files) onFile(file);
}
