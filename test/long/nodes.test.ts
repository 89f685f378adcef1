/** More of what several servers on one database go through. */
process.env['NODES'] ??= 'all';
await import('../e2e/nodes.test.ts');
export {};
