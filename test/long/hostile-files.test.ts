/** Many more files of strangers. */
process.env['HOSTILE_FILES'] ??= '5000';
await import('../conformance/hostile-files.test.ts');
export {};
