/** Extracts and shortens error stacks, and finds the first position in the project's own files. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isOwnModule } from './own-modules.ts';

export const MAX_STACK_BYTES = 16_384;
/** Maximum of the header before the first frame: the message is stored elsewhere. */
const MAX_HEADER_CHARACTERS = 1_000;
const MAX_CAUSES = 4;

export interface CodePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface Stacked {
  readonly stack?: unknown;
  readonly cause?: unknown;
  /** Present in an `AggregateError`. */
  readonly errors?: readonly unknown[];
}

/** First lines of the causes in a stack, outermost first. */
export const causesIn = (stack: string): string[] =>
  [...stack.matchAll(/^Caused by: (.+)$/gm)].map(([, cause]) => cause!);

/** Stacks of `thrown` and its causes, at most `MAX_STACK_BYTES` long; undefined when it has none. */
export function stackOf(thrown: unknown): string | undefined {
  const stacks: string[] = [];
  const pending = [thrown];
  try {
    while (stacks.length <= MAX_CAUSES && pending.length > 0) {
      const error = pending.shift() as Stacked | null | undefined;
      if (typeof error?.stack !== 'string') continue;
      stacks.push(withShortHeader(error.stack));
      pending.unshift(...(error.cause ? [error.cause] : (error.errors ?? [])));
    }
  } catch {
    // Members of a thrown object may be getters that throw; the stacks read so far are kept.
  }
  return stacks.length === 0 ? undefined : toMaxBytes(stacks.join('\nCaused by: '));
}

function withShortHeader(stack: string): string {
  const frames = /\n +at /.exec(stack)?.index ?? stack.length;
  if (frames <= MAX_HEADER_CHARACTERS) return stack;
  return `${stack.slice(0, MAX_HEADER_CHARACTERS)}…${stack.slice(frames)}`;
}

function toMaxBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_STACK_BYTES) return text;
  // A truncated character decodes to U+FFFD, which itself takes up to 3 bytes.
  return bytes.toString('utf8', 0, MAX_STACK_BYTES - 3).replace(/\uFFFD$/, '');
}

/** Header that Node prints above the stack of syntax and link errors; the caret marks the column. */
const HEADER = /^(file:\/\/\S+|\/.+?):(\d+)\n.*\n( *)\^/;
const FRAME = /^ +at (?:.*\()?(file:\/\/.+?|\/.+?):(\d+):(\d+)\)?$/gm;

/** Innermost position outside of packages and of this program. */
export function userPlaceOf(stack: string): CodePosition | undefined {
  const header = HEADER.exec(stack);
  if (header !== null) {
    const [, at, line, indent] = header;
    return { file: toFile(at!), line: Number(line), column: indent!.length + 1 };
  }
  for (const [, at, line, column] of stack.matchAll(FRAME)) {
    const file = toFile(at!);
    if (isProjectFile(file)) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

const isProjectFile = (file: string): boolean =>
  !file.includes('/node_modules/') && !isOwnModule(pathToFileURL(file).href);

/** First `count` frames of the project's own files; without any, the first frames of all files. */
export function projectFrames(stack: string, count: number): string[] {
  const own = [...stack.matchAll(FRAME)].filter(([, at]) => isProjectFile(toFile(at!)));
  return own.length === 0 ? firstFrames(stack, count) : own.slice(0, count).map(([frame]) => frame.trim());
}

/** First `count` frames of packages and of Node, without indentation. */
export const foreignFrames = (stack: string, count: number): string[] =>
  firstFrames(stack, Infinity)
    .filter((frame) => {
      const [, at] = [...`  ${frame}`.matchAll(FRAME)][0] ?? [];
      return at === undefined || !isOwnModule(pathToFileURL(toFile(at)).href);
    })
    .slice(0, count);

/** First `count` frames without indentation. */
const firstFrames = (stack: string, count: number): string[] =>
  [...stack.matchAll(/^ +(at .*)$/gm)].slice(0, count).map(([, frame]) => frame!);

export const placeText = ({ file, line, column }: CodePosition): string => `${file}:${line}:${column}`;

const toFile = (at: string): string => (at.startsWith('file:') ? fileURLToPath(at) : at);
