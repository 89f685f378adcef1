/** Regular expressions that others write: matched in linear time, whatever they say. */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

// With the first pattern: it is a megabyte, and most configurations have none.
const library = (): { readonly RE2JS: typeof RE2JS } => require('re2js') as { RE2JS: typeof RE2JS };

export type Pattern = Pick<RE2JS, 'matches'>;

/** Throws when the text is no regular expression of RE2. */
export const compilePattern = (text: string): Pattern => library().RE2JS.compile(text);

/** The pattern that matches this text and no other. */
export const quotePattern = (text: string): string => library().RE2JS.quote(text);
