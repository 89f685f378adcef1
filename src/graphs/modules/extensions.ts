/** File name extensions of modules, and which of them stand for one another. */

/** Is compiled before it runs; JSX in a `.jsx` file counts. */
export const isTypeScript = (file: string): boolean => /\.(?:[cm]?ts|tsx|jsx)$/.test(file);

/** Written in an import, these mean the file that a compiler would make of one of the others. */
export const SOURCES_OF: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

/** Left out in an import, tried in this order. */
export const OPTIONAL = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'];
