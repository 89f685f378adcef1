/** Describes load errors with their position in the user's own files. */
import { dirname, resolve } from 'node:path';
import { missingLibraryText } from '../kernel/missing-library.ts';
import { placeText, userPlaceOf, type CodePosition } from '../kernel/stack.ts';
import { readTextFile } from '../kernel/text-file.ts';
import { remedyOf } from './remedy.ts';

/**
 * Returns the line `Name: file:line:column: message`, without the position if it is unknown. A compile error also has
 * its code frame. A shared library that an addon lacks is named alone.
 */
export function describeLoadError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const library = missingLibraryText(error);
  if (library !== undefined) return library;
  const [first = ''] = error.message.split('\n');
  if (error instanceof SyntaxError && HAS_POSITION.test(first)) return `${error.name}: ${error.message}`;
  const place = importOf(first) ?? userPlaceOf(error.stack ?? '');
  const text = [error.name, ...(place === undefined ? [] : [placeText(place)]), first].join(': ');
  const remedy = remedyOf(error.message, error.stack);
  return remedy === undefined ? text : `${text}; ${remedy}`;
}

const HAS_POSITION = /^.+:\d+:\d+: /;

/** Node's message names the importing file but not the line, so the line is searched for. */
const MISSING = /^Cannot find (?:module|package) '(.+)' imported from (.+)$/;

function importOf(message: string): CodePosition | undefined {
  const [, missing, file] = MISSING.exec(message) ?? [];
  if (missing === undefined || file === undefined) return undefined;
  let lines: string[];
  try {
    lines = readTextFile(file).split('\n');
  } catch {
    return undefined;
  }
  const isMissing = (specifier: string): boolean =>
    specifier === missing ||
    specifier.startsWith(`${missing}/`) ||
    resolve(dirname(file), specifier) === missing;
  for (const [index, text] of lines.entries())
    for (const { 1: specifier, index: column } of text.matchAll(/['"]([^'"]+)['"]/g))
      if (isMissing(specifier!)) return { file, line: index + 1, column: column + 1 };
  return undefined;
}
