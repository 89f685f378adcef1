/** Detects from package.json and source text whether a file is an ES module or CommonJS. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readTextFile } from '../../kernel/text-file.ts';

export type ModuleFormat = 'module' | 'commonjs';

/** The `type` field of the nearest package.json, found as Node finds it. */
export function packageType(file: string): ModuleFormat | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const description = join(folder, 'package.json');
    if (existsSync(description)) {
      const { type } = JSON.parse(readTextFile(description)) as { type?: unknown };
      return type === 'module' || type === 'commonjs' ? type : undefined;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

export const hasModuleSyntax = (text: string): boolean =>
  /^\s*(?:import|export)\b(?!\s*[=(:,.)])/m.test(withoutComments(text)) || /\bimport\.meta\b/.test(text);

/** True for module syntax mixed with `module.exports` or the like: code meant for a compiler that emits CommonJS. */
export const writesExports = (text: string): boolean => {
  const code = withoutComments(text);
  return (
    /\bmodule\.exports\b|\brequire\.main\b|(?<![.\w$])exports\.[\w$]+\s*=[^=]|^\s*export\s*=/m.test(code) &&
    !/\bimport\.meta\b/.test(code)
  );
};

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
