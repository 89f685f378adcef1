/** A file that is not imported: foreign, damaged, or of a later version. Nothing of it was written. */
export class ExportRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ExportRefused';
  }
}

/** What is named as a file cannot be opened, or is none. */
export class NoFile extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'NoFile';
  }
}
