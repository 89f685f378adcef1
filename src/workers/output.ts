/**
 * Passes on a graph worker's output, line by line. X4 The length of a line and the amount per second are limited, so that
 * a loop that prints cannot fill the server's memory or log. The number of dropped lines is printed.
 */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../kernel/clock.ts';

const MAX_LINE_CHARACTERS = 8_192;
const MAX_CHARACTERS_PER_SECOND = 1_048_576;
/** Last output, kept for the error message of a crash. */
const MAX_TAIL_CHARACTERS = 4_096;

export interface Output {
  /** The last `MAX_TAIL_CHARACTERS` of output. */
  tail(): string;
}

export function readOutput(
  stream: Readable,
  clock: Pick<Clock, 'monotonic'>,
  print: (text: string) => void,
): Output {
  const decoder = new StringDecoder('utf8');
  let unfinished = '';
  let tail = '';
  let dropped = 0;
  let second = { from: -Infinity, characters: 0 };

  function take(line: string): string {
    const now = clock.monotonic();
    let note = '';
    if (now - second.from >= 1_000) {
      if (dropped > 0) note = `… ${dropped} lines dropped: they came faster than they could be passed on\n`;
      second = { from: now, characters: 0 };
      dropped = 0;
    }
    if (second.characters > MAX_CHARACTERS_PER_SECOND) {
      dropped += 1;
      return note;
    }
    const shown =
      line.length <= MAX_LINE_CHARACTERS
        ? line
        : `${line.slice(0, MAX_LINE_CHARACTERS)}… ${line.length - MAX_LINE_CHARACTERS} more characters\n`;
    second.characters += shown.length;
    tail = (tail + shown).slice(-MAX_TAIL_CHARACTERS);
    return note + shown;
  }

  stream.on('data', (bytes: Buffer) => {
    const text = unfinished + decoder.write(bytes);
    const lines = text.split(/(?<=\n)/);
    const isOpen = !text.endsWith('\n');
    unfinished = isOpen ? (lines.pop() ?? '') : '';
    const shown = lines.map(take).join('');
    if (shown !== '') print(shown);
    if (unfinished.length <= MAX_LINE_CHARACTERS) return;
    // An overlong line without a line break is printed in parts.
    print(take(`${unfinished}\n`));
    unfinished = '';
  });
  stream.on('end', () => {
    const rest = unfinished === '' ? '' : take(`${unfinished}\n`);
    const note = dropped > 0 ? `… ${dropped} lines dropped\n` : '';
    if (rest + note !== '') print(rest + note);
  });
  return { tail: () => tail };
}
