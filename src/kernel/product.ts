/**
 * The name of this program. Imports, cache folders, metrics and headers begin with it. Whoever renames the program
 * changes this constant and `name` in `package.json`; a test compares the two.
 */
export const PRODUCT = 'rewound';

/** The same as `version` in `package.json`; a test compares the two. */
export const VERSION = '0.1.0';
