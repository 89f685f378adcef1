/** Reads a JSON file; a syntax error is told with its place and the lines around it. */
import { readFileSync } from 'node:fs';

/** Lines of the file shown above and below the place. */
const FRAME_LINES = 2;

/** Undefined, with one more problem, when the file cannot be read as JSON. */
export function readJsonFile(path: string, problems: string[]): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
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
  const before = text.slice(0, placeOf(text, message)).split('\n');
  const [line, column] = [before.length, before.at(-1)!.length + 1];
  // The message quotes the text, or names the place, in a way that the frame shows better.
  const reason = message.replace(/(, (\.\.\.)?".*|( after JSON| in JSON)? at position .*)$/s, '');
  return `${path}:${line}:${column}: expected JSON: ${reason}\n${frame(text, line, column)}`;
}

/** Names the offset of the first character that is wrong: V8 says it in some of its messages only. */
function placeOf(text: string, message: string): number {
  const said = /at position (\d+)/.exec(message);
  if (said !== null) return Number(said[1]);
  if (!message.startsWith('Unexpected token')) return text.length;
  // The shortest beginning of the text that has the wrong character: shorter ones are only incomplete.
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

/** Some lines with their numbers, the wrong one marked, and a caret below the column. */
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
