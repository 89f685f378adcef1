/**
 * Parses JSON that this program stored. Throws `DamagedRow` when the text is not JSON, because the file is damaged or
 * foreign. A4 The error names the row but never quotes the text, as a parser's message would.
 */
export function fromStored(text: string, what: string, id: string | number = ''): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new DamagedRow(what, id);
  }
}

export class DamagedRow extends Error {
  constructor(what: string, id: string | number) {
    super(`the database holds no JSON as the ${what}${id === '' ? '' : ` ${id}`}`);
    this.name = 'DamagedRow';
  }
}
