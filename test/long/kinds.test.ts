/** More kinds of unchanged code and of changes; `KINDS_SHARE=100` takes all. */
process.env['KINDS_SHARE'] ??= '15';
await import('../e2e/kinds.test.ts');
export {};
