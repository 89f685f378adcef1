/** Records the project files that this process has loaded, or read in order to load others. */

const files = new Set<string>();
const imports = new Set<string>();
export type OnFile = (file: string, importer?: string) => void;
let listener: OnFile | undefined;

/** `file` is an absolute path. */
export function noteFile(file: string): void {
  if (files.has(file)) return;
  files.add(file);
  listener?.(file);
}

/** Notes that a project file imports another one. */
export function noteImport(file: string, importer: string): void {
  const key = `${file}\n${importer}`;
  if (listener === undefined || imports.has(key)) return;
  imports.add(key);
  listener(file, importer);
}

/** The files recorded so far. */
export const loadedFiles = (): readonly string[] => [...files];

/**
 * Calls `onFile` once per file, at once for files already recorded, and once more for each file that imports it later. A
 * new listener replaces the previous one.
 */
export function listenForFiles(onFile: OnFile): void {
  listener = onFile;
  for (const file of files) onFile(file);
}
