/** Compiles a project file to the source and module format that Node runs. */
import { extname } from 'node:path';
import { isTypeScript } from './extensions.ts';
import { callNamespaces, declareCommonJsNames, lineAbove, toCommonJs } from './common-js.ts';
import { hasModuleSyntax, packageType, writesExports, type ModuleFormat } from './format.ts';
import { enteringStatement } from '../../recording/module-loading.ts';
import { withSourceMap } from './source-map.ts';
import { transform } from './transform.ts';
import { readTextFile } from '../../kernel/text-file.ts';

export interface LoadedSource {
  readonly format: ModuleFormat;
  readonly source: string;
}

/**
 * Undefined if Node can load the file unchanged. A file with module syntax whose package.json has no `type` becomes an ES
 * module: top-level await works, and it shares library instances with other ES modules. It may also use `require`,
 * `__dirname` and `__filename`. A file that writes `module.exports` stays CommonJS.
 */
export function loadSource(file: string): LoadedSource | undefined {
  const isWritten = isTypeScript(file);
  const type = FORMAT_OF[extname(file)] ?? packageType(file);
  if (!isWritten && (type === 'module' || !/\.c?js$/.test(file))) return undefined;
  const text = readTextFile(file);
  const isModular = hasModuleSyntax(text);
  if (!isWritten && !isModular) return undefined;

  const format = type ?? (isModular && !writesExports(text) ? 'module' : 'commonjs');
  const compiled = transform(file, text, format);
  if (format === 'commonjs') return { format, source: withSourceMap(toCommonJs(file, compiled)) };
  const module = type === undefined ? declareCommonJsNames(file, callNamespaces(compiled)) : compiled;
  return { format, source: withSourceMap(lineAbove(enteringStatement(file), module)) };
}

const FORMAT_OF: Readonly<Record<string, ModuleFormat>> = {
  '.mts': 'module',
  '.mjs': 'module',
  '.cts': 'commonjs',
  '.cjs': 'commonjs',
};

/** The source of an ES module that exports a JSON file's value as `default` and its members by name. */
export function jsonModule(file: string): string {
  const text = readTextFile(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`${file}: ${(error as SyntaxError).message}`);
  }
  const keys = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const named = keys.filter((key) => key !== 'default' && key.isWellFormed());
  return [
    `const json = JSON.parse(${JSON.stringify(text)});`,
    'export default json;',
    ...named.map(
      (key, i) => `const v${i} = json[${JSON.stringify(key)}]; export { v${i} as ${JSON.stringify(key)} };`,
    ),
  ].join('\n');
}
