/**
 * Reads JSON that this program wrote. Throws an error that names the place, and none of the text, when the text is
 * no JSON: then the file was damaged or written by somebody else. A4 What a parser says of a text quotes it.
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
