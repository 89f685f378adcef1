/** More junk in each place of each operation. */
process.env['INPUT_JUNK'] ??= '8';
await import('../conformance/input-routes.test.ts');
export {};
