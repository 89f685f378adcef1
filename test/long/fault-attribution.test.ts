/** More kills of the server, beside more runs. */
process.env['ATTRIBUTION_KILLS'] ??= '20';
process.env['ATTRIBUTION_RUNS'] ??= '100';
await import('../faults/fault-attribution.test.ts');
export {};
