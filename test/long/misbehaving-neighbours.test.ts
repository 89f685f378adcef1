/** All of them, and a longer flood beside other runs. */
process.env['MISBEHAVING_NEIGHBOURS'] ??= 'all';
process.env['MISBEHAVING_FRAMES'] ??= '100000';
await import('../faults/misbehaving-neighbours.test.ts');
export {};
