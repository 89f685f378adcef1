/** How many files this process may open: sockets, pipes of graph workers and files of the log count alike. */
import { readFileSync } from 'node:fs';

/** The log, the pipes of a few graph workers, and some clients. */
const MIN_OPEN_FILES = 128;

/** Undefined where the system does not say. */
function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Why the server cannot start with this limit, in words for the person who started it. */
export function openFilesProblem(limit = openFilesLimit()): string | undefined {
  if (limit === undefined || limit >= MIN_OPEN_FILES) return undefined;
  return `this process may open ${limit} files; expected at least ${MIN_OPEN_FILES}. Raise the limit, for example with: ulimit -n 4096`;
}
