/**
 * The name of this program. Imports, cache folders, metrics and headers begin with it. Whoever renames the program
 * changes this constant and `name` in `package.json`; a test compares the two.
 */
export const PRODUCT = 'rewound';
