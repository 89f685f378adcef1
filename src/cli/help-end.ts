import { PRODUCT } from '../kernel/product.ts';

/** The end of a command's help: what its exit codes mean, and examples without the program's name. */
export const helpEnd = (codes: string, ...examples: readonly string[]): string =>
  `\nExit codes: ${codes}\n\n${examples.length === 1 ? 'Example' : 'Examples'}:\n` +
  examples.map((example) => `  ${PRODUCT} ${example}`).join('\n');
