/** All kinds of unchanged code and all changes of `e2e/kinds.test.ts`. */
process.env['KINDS_SHARE'] ??= '100';
await import('../e2e/kinds.test.ts');
export {};
