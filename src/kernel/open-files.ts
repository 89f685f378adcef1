/** Checks the limit of open files, which sockets, worker pipes and log files share. */
import { readFileSync } from 'node:fs';

/** Enough for the log, pipes of a few graph workers and some clients. */
const MIN_OPEN_FILES = 128;

/** Returns undefined where the system does not report the limit. */
function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Describes why the server cannot start with this limit; undefined when it can. */
export function openFilesProblem(limit = openFilesLimit()): string | undefined {
  if (limit === undefined || limit >= MIN_OPEN_FILES) return undefined;
  return `this process may open ${limit} files; expected at least ${MIN_OPEN_FILES}. Raise the limit, for example with: ulimit -n 4096`;
}
