/** Composes source maps and appends them to code. */
import type { Compiled, SourceMap } from './transform.ts';

/** Maps an output column to a source position; lines and columns count from 0. */
type Segment = readonly [column: number, sourceLine: number, sourceColumn: number];

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function withSourceMap({ code, map }: Compiled): string {
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`;
}

/** Composes the maps of two compilation steps: from the second step's output to the first step's source. Drops names. */
export function joinMaps(second: SourceMap, first: SourceMap): SourceMap {
  const sources = decode(first.mappings);
  const joined = decode(second.mappings).map((line) =>
    line.flatMap(([column, between, at]): Segment[] => {
      const found = sources[between]?.findLast(([start]) => start <= at);
      return found === undefined ? [] : [[column, found[1], found[2]]];
    }),
  );
  return { ...first, names: [], mappings: encode(joined) };
}

/** Puts a statement before code that is its own source. The map has each word and sign, whose places stacks tell. */
export function prefixed(statement: string, source: string, code: string): Compiled {
  const lines = code.split('\n').map((text, line) => {
    const ahead = line === 0 ? statement.length : 0;
    return Array.from(text.matchAll(/[\w$]+|[^\w\s]/g), ({ index }): Segment => [index + ahead, line, index]);
  });
  const map = { version: 3, sources: [source], names: [], mappings: encode(lines) };
  return { code: statement + code, map };
}

function decode(mappings: string): Segment[][] {
  let [sourceLine, sourceColumn] = [0, 0];
  return mappings.split(';').map((line) => {
    let column = 0;
    return line
      .split(',')
      .filter((segment) => segment !== '')
      .flatMap((segment): Segment[] => {
        const [ahead = 0, , down, right] = numbersOf(segment);
        column += ahead;
        if (down === undefined || right === undefined) return [];
        return [[column, (sourceLine += down), (sourceColumn += right)]];
      });
  });
}

function encode(lines: readonly (readonly Segment[])[]): string {
  let [lastLine, lastColumn] = [0, 0];
  return lines
    .map((line) => {
      let last = 0;
      return line
        .map(([column, sourceLine, sourceColumn]) => {
          const text = [column - last, 0, sourceLine - lastLine, sourceColumn - lastColumn]
            .map(digitsOf)
            .join('');
          [last, lastLine, lastColumn] = [column, sourceLine, sourceColumn];
          return text;
        })
        .join(',');
    })
    .join(';');
}

/** Decodes base64 VLQ: 5 bits per digit, bit 6 is the continuation flag, the lowest bit of the value is the sign. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function digitsOf(number: number): string {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    text += DIGITS[(rest & 31) | (rest > 31 ? 32 : 0)];
    rest >>>= 5;
  } while (rest > 0);
  return text;
}
