/** Many more files of strangers. */
process.env['HOSTILE_FILES'] ??= '1500';
await import('../conformance/hostile-files.test.ts');
export {};
