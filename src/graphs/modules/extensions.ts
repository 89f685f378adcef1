/** File name extensions of modules, and the mapping between output and source extensions. */

/** True if a file must be compiled before it runs; this includes `.jsx`. */
export const isTypeScript = (file: string): boolean => /\.(?:[cm]?ts|tsx|jsx)$/.test(file);

/** Maps an extension in an import specifier to the source extensions that compile to it. */
export const SOURCES_OF: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

/** Extensions that an import may omit, in the order of look-up. */
export const OPTIONAL = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'];
