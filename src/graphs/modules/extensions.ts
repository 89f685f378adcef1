/** File name extensions of modules, and which of them stand for one another. */

/** Whether a file is compiled before it runs; `.jsx` files are. */
export const isTypeScript = (file: string): boolean => /\.(?:[cm]?ts|tsx|jsx)$/.test(file);

/** An extension written in an import, and the sources whose output would have it. */
export const SOURCES_OF: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

/** Extensions that an import may leave out, in the order in which they are tried. */
export const OPTIONAL = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'];
