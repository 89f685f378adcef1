/** Text helpers for replay's output. */
import type { Json } from '../../kernel/json.ts';

/** Longer JSON is cut; `--json` prints all of it. */
const MAX_VALUE_CHARACTERS = 120;

export const clip = (text: string, max = MAX_VALUE_CHARACTERS): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= max ? line : `${line.slice(0, Math.max(1, max - 1))}…`;
};

export const valueText = (value: Json, max?: number): string => clip(JSON.stringify(value), max);

/** Formats milliseconds as `48 ms`, `1.3 s` or `4 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
}

/** Formats a count with its noun: `2 runs`, `1 run`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Names calls by their numbers: `call 3`, `calls 1 to 4, 6`. */
export function callsText(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const ranges: [from: number, to: number][] = [];
  for (const number of sorted) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const texts = ranges.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  return `call${numbers.length === 1 ? '' : 's'} ${texts.join(', ')}`;
}

/** Lists nodes with repetitions: `left, right, joke ×3`. */
export function nodesText(nodes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts].map(([node, count]) => (count === 1 ? node : `${node} ×${count}`)).join(', ');
}

/** First 13 characters of an id: they encode its creation time and suffice to find a thread. */
export const shortId = (id: string): string => `${id.slice(0, 13)}…`;

export const shortIds = (text: string): string =>
  text.replaceAll(/\b([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$1…');

/** Breaks text at its line ends, and at spaces into lines of at most `columns` characters; all but the first are indented. */
export const wrap = (text: string, columns: number, indent: number): string[] =>
  text
    .split(/\s*\n\s*/)
    .flatMap((line, at) => wrapLine(at === 0 ? line : ' '.repeat(indent) + line, columns, indent));

function wrapLine(line: string, columns: number, indent: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const room = rest.lastIndexOf(' ', columns);
    const at = room > indent ? room : columns;
    lines.push(rest.slice(0, at).trimEnd());
    rest = ' '.repeat(indent) + rest.slice(at).trimStart();
  }
  return [...lines, rest.trimEnd()];
}
