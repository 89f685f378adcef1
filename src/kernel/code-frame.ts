/** The source lines around a position. */
import type { CodePosition } from './stack.ts';
import { readTextFile } from './text-file.ts';

/** Source lines shown before and after the failing one. */
const CONTEXT_LINES = 2;

/** Returns the lines around the position with a caret below its column; none when the file cannot be read. */
export function codeFrame({ file, line, column }: CodePosition): string[] {
  let lines: string[];
  try {
    lines = readTextFile(file).split('\n');
  } catch {
    return [];
  }
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const width = String(last).length;
  const shown: string[] = [];
  for (let at = first; at <= last; at++) {
    const text = lines[at - 1] ?? '';
    shown.push(`    ${at === line ? '>' : ' '} ${String(at).padStart(width)} | ${text}`);
    // Keeps tabs, so that the caret is below its column.
    if (at === line)
      shown.push(`      ${' '.repeat(width)} | ${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`);
  }
  return shown;
}
