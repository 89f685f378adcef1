/** Regular expressions from untrusted sources, matched in linear time. */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

// Loaded with the first pattern: it has 1 MB, and most configurations use none.
const loadRe2 = (): { readonly RE2JS: typeof RE2JS } => require('re2js') as { RE2JS: typeof RE2JS };

export type Pattern = Pick<RE2JS, 'matches'>;

/** Throws when the text is not an RE2 expression. */
export const compilePattern = (text: string): Pattern => loadRe2().RE2JS.compile(text);
