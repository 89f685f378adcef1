/** A minimal scanner for TypeScript that separates code from comments and strings. */

export interface Import {
  readonly specifier: string;
  readonly offset: number;
}

const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
/** A slash after these starts a regular expression; elsewhere it is a division. */
const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield))$/;

/**
 * Replaces comments and the contents of strings, templates and regular expressions by spaces. Length and lines stay,
 * so offsets are valid in both texts. Code inside `${}` stays.
 */
export function maskSource(text: string): string {
  let out = '';
  let depth = 0;
  /** Brace depth of each open template placeholder. */
  const templates: number[] = [];

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = out.length;
    return pattern.exec(text)?.[0];
  };
  const hollow = (literal: string): string =>
    literal.length < 2 ? literal : literal[0] + blank(literal.slice(1, -1)) + literal.at(-1);
  /** Scans from a backtick or placeholder end to the closing backtick or the next `${`. */
  const templatePart = (): string => {
    let end = out.length + 1;
    while (end < text.length && text[end] !== '`' && !text.startsWith('${', end))
      end += text[end] === '\\' ? 2 : 1;
    const goesOn = text.startsWith('${', end);
    if (goesOn) templates.push(depth);
    return (
      text[out.length] + blank(text.slice(out.length + 1, end)) + (goesOn ? '${' : text.slice(end, end + 1))
    );
  };

  while (out.length < text.length) {
    const char = text[out.length]!;
    const comment = char === '/' ? match(COMMENT) : undefined;
    if (comment !== undefined) out += blank(comment);
    else if (char === '"' || char === "'") out += hollow(match(STRING)!);
    else if (char === '`') out += templatePart();
    else if (char === '}' && templates.at(-1) === depth) {
      templates.pop();
      out += templatePart();
    } else {
      const regex = char === '/' && BEFORE_REGEX.test(out.slice(-2000).trimEnd()) ? match(REGEX) : undefined;
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      out += regex === undefined ? char : hollow(regex);
    }
  }
  return out;
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

const IMPORT = /(?<![.\w$])(?:from|import|(?:import|require)\s*\()\s*(?=['"`])/g;

/** Returns all imported, re-exported or dynamically imported literal specifiers, types included. */
export function readImports(text: string, code = maskSource(text)): Import[] {
  return [...code.matchAll(IMPORT)].map((found) => {
    const offset = found.index + found[0].length;
    return { specifier: readLiteral(text, code, offset), offset };
  });
}

/** Returns the raw content of the string literal at `offset`. */
export function readLiteral(text: string, code: string, offset: number): string {
  return text.slice(offset + 1, code.indexOf(code[offset]!, offset + 1));
}

export const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
