/** Pieces of a Markdown page whose text others wrote: fenced blocks that share the room, and names. */

/** A fenced text, or a line of the page itself. */
export type Piece = string | Block;

export interface Block {
  readonly language: 'text' | 'json' | 'http' | 'ts' | 'sh';
  readonly text: string;
  /** Whole, however small the page is. */
  readonly isWhole?: boolean;
}

/** Terminals and editors act on control characters. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const MAX_NAME_CHARACTERS = 120;
const SHRINK = 0.8;

export const block = (language: Block['language'], text: string): Block => ({ language, text });

/** JSON in lines when it is short. */
export function json(text: string): Block {
  const isShort = text.length <= MAX_LINED_CHARACTERS;
  return block('json', isShort ? JSON.stringify(JSON.parse(text), null, 2) : text);
}

const MAX_LINED_CHARACTERS = 20_000;

/** A name in a line of the page: it cannot end its code span or the line. */
export function name(text: string, max = MAX_NAME_CHARACTERS): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'").replace(CONTROLS, '');
  return `\`${line.slice(0, max).toWellFormed()}\``;
}

/** Cuts all blocks to the same length until the page has `maxCharacters`. */
export function renderPage(pieces: readonly Piece[], maxCharacters: number): string {
  for (let room = maxCharacters; ; room = Math.floor(room * SHRINK)) {
    const page = pieces
      .map((piece) => (typeof piece === 'string' ? piece : fenced(piece, room)))
      .join('\n\n');
    if (page.length < maxCharacters || room === 0) return `${page}\n`;
  }
}

/** A fence longer than any within the text, which therefore cannot end it. */
function fenced({ language, text, isWhole = false }: Block, room: number): string {
  const shown = (isWhole ? text : cut(text, room)).replaceAll('\r\n', '\n').replace(CONTROLS, '\ufffd');
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${shown.replace(/\n+$/, '')}\n${fence}`;
}

/** Keeps beginning and end: the newest of a list is its last. */
function cut(text: string, room: number): string {
  if (text.length <= room) return text;
  const tail = Math.floor(room / 3);
  const left = `\n… ${text.length - room} characters left out …\n`;
  return `${text.slice(0, room - tail)}${left}${text.slice(text.length - tail)}`.toWellFormed();
}
