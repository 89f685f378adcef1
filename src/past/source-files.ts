/**
 * The project's source files that a report may quote. A stack may come in a file that anybody made, so no other file is read.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { codeFrame } from '../kernel/code-frame.ts';
import type { CodePosition } from '../kernel/stack.ts';

const SOURCE = /\.(?:[cm]?[jt]sx?|py)$/;
const MAX_LINE_CHARACTERS = 160;

export interface QuotedPlace {
  /** `file:line:column`; the file is relative to the first folder where it is one of the project's. */
  readonly text: string;
  readonly frame: readonly string[];
}

/** `folders`: the project's own. */
export function quotePlace(place: CodePosition, folders: readonly string[]): QuotedPlace {
  const file = projectFile(place.file, folders);
  const shown = file === undefined ? place.file : relative(folders[0]!, file);
  return {
    text: `${shown}:${place.line}:${place.column}`,
    frame:
      file === undefined
        ? []
        : codeFrame({ ...place, file }).map((line) => line.slice(4, 4 + MAX_LINE_CHARACTERS)),
  };
}

/** The path here of a source file of the project, which may have been recorded on another machine. */
export function projectFile(file: string, folders: readonly string[]): string | undefined {
  if (!SOURCE.test(file) || file.split(/[\\/]/).includes('..')) return undefined;
  if (folders.some((folder) => isWithin(file, folder)) && existsSync(file)) return file;
  if (existsSync(file)) return undefined;
  const parts = file.split(/[\\/]/).filter((part) => part !== '');
  return parts.map((_, at) => join(folders[0]!, ...parts.slice(at))).find((path) => existsSync(path));
}

function isWithin(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..';
}
