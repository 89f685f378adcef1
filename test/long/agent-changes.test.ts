/** More changes of agents; `KINDS_SHARE=100` takes all. */
process.env['KINDS_SHARE'] ??= '30';
await import('../e2e/agent-changes.test.ts');
export {};
