/** Names the place in the user's own files that an error of loading comes from. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isOwnModule } from '../kernel/own-modules.ts';

/**
 * One line, `Name: file:line:column: message` where the place is known. The source lines around it follow if the file
 * could not be compiled.
 */
export function describeLoadError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first = ''] = error.message.split('\n');
  if (error instanceof SyntaxError && PLACED.test(first)) return `${error.name}: ${error.message}`;
  const place = placeOf(error.stack ?? '');
  return [error.name, ...(place === undefined ? [] : [place]), first].join(': ');
}

const PLACED = /^.+:\d+:\d+: /;

/** Node puts these lines before the stack of what it cannot link or compile: the caret stands below the column. */
const HEADER = /^(file:\/\/\S+|\/.+?):(\d+)\n.*\n( *)\^/;
const FRAME = /^ +at (?:.*\()?(file:\/\/.+?|\/.+?):(\d+):(\d+)\)?$/gm;

function placeOf(stack: string): string | undefined {
  const header = HEADER.exec(stack);
  if (header !== null) {
    const [, at, line, indent] = header;
    return `${toFile(at!)}:${line}:${indent!.length + 1}`;
  }
  for (const [, at, line, column] of stack.matchAll(FRAME)) {
    const file = toFile(at!);
    if (!file.includes('/node_modules/') && !isOwnModule(pathToFileURL(file).href))
      return `${file}:${line}:${column}`;
  }
  return undefined;
}

const toFile = (at: string): string => (at.startsWith('file:') ? fileURLToPath(at) : at);
