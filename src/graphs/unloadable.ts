/**
 * What cannot be loaded for want of files. Node remembers it for as long as the process lives, so whoever needs it is
 * asked of another worker.
 */

/** Recognised by its name where it comes from another process. */
export class Unloadable extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`This process cannot load what it needs any more: ${reason}`);
    this.name = 'Unloadable';
  }
}

/** The last is what becomes of a package whose description could not be read. */
const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ERR_UNSUPPORTED_DIR_IMPORT']);

export const isForWantOfFiles = (error: unknown): boolean =>
  CODES.has((Object(error) as { code?: unknown }).code);
