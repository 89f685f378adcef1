/**
 * Load failures caused by a lack of file descriptors. Node caches such a failure for the life of the process, so the
 * query is repeated in another worker.
 */

/** The server recognises it by its name, because it comes from another process. */
export class Unloadable extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`This process cannot load what it needs any more: ${reason}`);
    this.name = 'Unloadable';
  }
}

/** `ERR_UNSUPPORTED_DIR_IMPORT` results when a package.json cannot be read. */
const ERROR_CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ERR_UNSUPPORTED_DIR_IMPORT']);

export const isForWantOfFiles = (error: unknown): boolean =>
  ERROR_CODES.has((Object(error) as { code?: unknown }).code);
