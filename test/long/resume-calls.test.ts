/** Some 40 kills of the worker and of the server each, over all graphs. */
process.env['RESUME_KILLS'] ??= '6';
await import('../e2e/resume-calls.test.ts');
export {};
