/** Files that callers have opened for reading, until each expires. */
import type { Clock } from '../../kernel/clock.ts';

/** A file as a log of its own. */
export interface OpenedLog {
  readonly threadId: string;
  /** Answers a request for a path of the API. */
  answer(request: Request, bindings: object): Response | Promise<Response>;
  /** Closes the log and removes its files. */
  close(): Promise<void>;
}

export interface OpenedFiles {
  /** Opens the file under a new id, in place of the caller's oldest one when the caller has `MAX_OF_USER`. */
  open(path: string, user: string | undefined): Promise<Opened>;
  /** Undefined for a file that does not exist or that another user has opened. */
  find(openedId: string, user: string | undefined): Opened | undefined;
  close(): Promise<void>;
}

interface Opened {
  readonly openedId: string;
  readonly expiresAt: number;
  readonly log: OpenedLog;
}

export interface OpenedFilesOptions {
  readonly clock: Clock;
  readonly newId: () => string;
  /** Imports the file into a log of its own. Throws `ExportRefused`. */
  readonly openLog: (path: string, openedId: string) => Promise<OpenedLog>;
  readonly onFault: (error: unknown, context: string) => void;
}

const LIFE_MS = 3_600_000;
const MAX_OF_USER = 4;

export function createOpenedFiles({ clock, newId, openLog, onFault }: OpenedFilesOptions): OpenedFiles {
  const opened = new Map<
    string,
    Opened & { readonly user: string | undefined; readonly cancel: () => void }
  >();
  async function remove(openedId: string): Promise<void> {
    const found = opened.get(openedId);
    if (found === undefined) return;
    opened.delete(openedId);
    found.cancel();
    await found.log.close().catch((error: unknown) => onFault(error, 'closing an opened file'));
  }
  return {
    async open(path, user) {
      const openedId = newId();
      const log = await openLog(path, openedId);
      const own = [...opened.values()].filter((each) => each.user === user);
      if (own.length >= MAX_OF_USER) await remove(own[0]!.openedId);
      const cancel = clock.after(LIFE_MS, () => void remove(openedId));
      const entry = { openedId, expiresAt: clock.now() + LIFE_MS, log, user, cancel };
      opened.set(openedId, entry);
      return entry;
    },
    find(openedId, user) {
      const found = opened.get(openedId);
      return found?.user === user ? found : undefined;
    },
    async close() {
      await Promise.all([...opened.keys()].map(remove));
    },
  };
}
