/** Reads a JSON file. A syntax error is reported with its position and the lines around it. */
import { readTextFile } from '../kernel/text-file.ts';

/** Lines shown above and below the error. */
const FRAME_LINES = 2;

/** Returns undefined and adds a problem when the file cannot be read as JSON. */
export function readJsonFile(path: string, problems: string[]): unknown {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    problems.push(`${path}: expected a file that can be read (${(error as Error).message})`);
    return undefined;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    problems.push(describeSyntaxError(path, text, (error as Error).message));
    return undefined;
  }
}

function describeSyntaxError(path: string, text: string, message: string): string {
  const before = text.slice(0, offsetOf(text, message)).split('\n');
  const [line, column] = [before.length, before.at(-1)!.length + 1];
  // Removes V8's own quote and position, which the frame shows better.
  const reason = message.replace(/(, (\.\.\.)?".*|( after JSON| in JSON)? at position .*)$/s, '');
  return `${path}:${line}:${column}: expected JSON: ${reason}\n${frame(text, line, column)}`;
}

/** Returns the offset of the first wrong character, which only some V8 messages contain. */
function offsetOf(text: string, message: string): number {
  const match = /at position (\d+)/.exec(message);
  if (match !== null) return Number(match[1]);
  if (!message.startsWith('Unexpected token')) return text.length;
  // Binary search for the shortest prefix with the wrong character: shorter ones are merely incomplete.
  let [valid, wrong] = [0, text.length];
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >> 1;
    if (hasWrongToken(text.slice(0, middle))) wrong = middle;
    else valid = middle;
  }
  return wrong - 1;
}

function hasWrongToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
}

/** Renders the lines around the error with numbers, and a caret below the column. */
function frame(text: string, line: number, column: number): string {
  const lines = text.split(/\r?\n/);
  const first = Math.max(1, line - FRAME_LINES);
  const last = Math.min(lines.length, line + FRAME_LINES);
  const width = String(last).length;
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const number = first + index;
    const shown = `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${lines[number - 1]}`;
    return number === line ? `${shown}\n  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^` : shown;
  }).join('\n');
}
