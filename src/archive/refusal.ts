/** A file that is not imported: foreign, damaged, or of a later version. Nothing of it was written. */
export class ExportRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ExportRefused';
  }
}

/** The path names no file, or one that cannot be opened. */
export class NoFile extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'NoFile';
  }
}
