/** Every misbehaving graph, also those that cost their worker. */
process.env['MISBEHAVING_GRAPHS'] ??= '.';
await import('../faults/misbehaving-graphs.test.ts');
export {};
