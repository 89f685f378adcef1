/** A file that is not imported: foreign, damaged, or of a later version. Nothing of it was written. */
export class ExportRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ExportRefused';
  }
}
