import { readFileSync } from 'node:fs';

/** Reads a UTF-8 file without its byte order mark, which editors add and which is no part of the content. */
export const readTextFile = (path: string): string => readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
