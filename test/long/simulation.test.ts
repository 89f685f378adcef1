/** Many more simulated lives: so many that every kind of fault comes. */
process.env['SIMULATION_SEEDS'] ??= '700';
await import('../model/simulation.test.ts');
export {};
