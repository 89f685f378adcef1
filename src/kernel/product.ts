/**
 * Name of this program, used in imports, cache folders, metrics and headers. It equals `name` in `package.json`; a
 * test compares the two.
 */
export const PRODUCT = 'rewound';

/** Equals `version` in `package.json`; a test compares the two. */
export const VERSION = '0.1.0';
