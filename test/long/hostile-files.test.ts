/** Many more files of strangers. */
process.env['HOSTILE_FILES'] ??= '2500';
await import('../conformance/hostile-files.test.ts');
export {};
