/** Many more simulated lives: so many that every kind of fault comes. */
process.env['SIMULATION_SEEDS'] ??= '700';
process.env['NODE_SEEDS'] ??= '600';
await import('../model/simulation.test.ts');
export {};
