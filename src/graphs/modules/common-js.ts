/**
 * Converts ES module syntax to CommonJS, and declares CommonJS names in ES modules. oxc does the rewriting: imports become
 * object accesses and exports getters. Both call helper functions that the prelude here declares.
 */
import { dirname, join } from 'node:path';
import { compiler } from './compiler.ts';
import { isTypeScript } from './extensions.ts';
import { findFile } from './resolve.ts';
import { joinMaps } from './source-map.ts';
import { toMap, transform, type Compiled } from './transform.ts';
import { readTextFile } from '../../kernel/text-file.ts';

/**
 * A function as the namespace of its module: it can be called, as compilers without `esModuleInterop` have it, and has
 * itself as default, as compilers with it do.
 */
const CALLABLE =
  '(found) => new Proxy(found, { get: (own, key) => key === "default" && !(key in own) ? own : own[key] })';

/**
 * Defines the helpers. Importing a CommonJS module gives its exports by name, and `module.exports` as default unless it
 * has `__esModule`. A module in an import cycle shows each export as soon as it exists.
 */
const PRELUDE = `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const __vite_ssr_exports__ = exports;
const __vite_ssr_import_meta__ = { filename: __filename, dirname: __dirname, url: require("node:url").pathToFileURL(__filename).href };
const __vite_ssr_dynamic_import__ = (name, options) =>
  import(name, options).then((found) => (found.default?.__esModule ? found.default : found));
const __vite_ssr_import__ = (name, options) => {
  const found = require(name);
  if (found?.__esModule || require("node:util").types.isModuleNamespaceObject(found)) return found;
  if (Object(found) !== found) return { default: found };
  if (options === undefined && typeof found === "function") return (${CALLABLE})(found);
  return options === undefined ? { ...found, default: found } : Object.create(found, { default: { value: found } });
};
const __vite_ssr_exportAll__ = (found) => {
  for (const key of Object.keys(found))
    if (key !== "default" && !Object.hasOwn(exports, key))
      Object.defineProperty(exports, key, { enumerable: true, configurable: true, get: () => found[key] });
};`.replaceAll(/\n\s*/g, ' ');

export function toCommonJs(file: string, compiled: Compiled): Compiled {
  const { code, map } = compiler().moduleRunnerTransformSync(file, compiled.code, { sourcemap: true });
  if (!code.includes('__vite_ssr_')) return compiled;
  // The replacement has the same length, so the columns of the source map stay valid.
  const synchronous = code.replaceAll(
    /^((?:\/\*.*?\*\/ ?)?const \w+ = )await (?=__vite_ssr_import__\()/gm,
    '$1      ',
  );
  const joined = joinMaps(toMap(file, map!), compiled.map);
  return lineAbove(PRELUDE, {
    code: `${synchronous}\n${EXPORTS}${exportsOf(file, code).join(', ')} });`,
    map: joined,
  });
}

/** Dead code from which Node's static analysis reads the names that an ES module may import. */
const EXPORTS = '0 && (module.exports = { ';

function exportsOf(file: string, code: string): string[] {
  const names = [...code.matchAll(/^Object\.defineProperty\(__vite_ssr_exports__, ("(?:[^"\\]|\\.)+")/gm)];
  const others = [...code.matchAll(/^__vite_ssr_exportAll__\((\w+)\);$/gm)].flatMap(([, name]) => {
    const [, request] = new RegExp(`^const ${name} = await __vite_ssr_import__\\((".*?")[,)]`, 'm').exec(
      code,
    )!;
    return exportsOfOther(file, request!);
  });
  return [...names.map(([, name]) => `${name}: exports`), ...others];
}

/** Node's analysis follows `...require()` only into JavaScript, so the exports of a TypeScript file are listed. */
function exportsOfOther(file: string, request: string): string[] {
  const specifier = JSON.parse(request) as string;
  const other = specifier.startsWith('.') ? findFile(join(dirname(file), specifier), true) : undefined;
  if (other === undefined || !isTypeScript(other)) return [`...require(${request})`];
  try {
    const { code } = transform(other, readTextFile(other), 'commonjs');
    return exportsOf(other, compiler().moduleRunnerTransformSync(other, code).code);
  } catch {
    // A compile error is reported when the file itself is loaded. Import cycles overflow the stack and end here too.
    return [];
  }
}

const COMMON_JS = {
  require: 'process.getBuiltinModule("node:module").createRequire(import.meta.url)',
  __dirname: 'import.meta.dirname',
  __filename: 'import.meta.filename',
} as const;

/** Declares the names of CommonJS that an ES module uses and does not declare. */
export function declareCommonJsNames(file: string, compiled: Compiled): Compiled {
  if (!/\b(?:require|__dirname|__filename)\b/.test(compiled.code)) return compiled;
  const free = Object.entries(COMMON_JS).filter(([name]) => {
    const { code } = compiler().transformSync(`${file}.js`, compiled.code, {
      inject: { [name]: ['common-js:', name] },
    });
    return /^import \{.*\} from "common-js:";$/m.test(code);
  });
  if (free.length === 0) return compiled;
  return lineAbove(free.map(([name, value]) => `const ${name} = ${value};`).join(' '), compiled);
}

/** Makes namespaces of callable CommonJS modules callable: a compiler that emits CommonJS imports the function itself. */
export function callNamespaces(compiled: Compiled): Compiled {
  let isChanged = false;
  const code = compiled.code.replaceAll(
    /^import \* as ([\w$]+) (from .*);$/gm,
    (statement, name: string, from) => {
      const uses = new RegExp(`(?<![.\\w$])${name.replaceAll('$', '\\$')}(?![\\w$]|\\s*\\.)`, 'g');
      // One of the matches is the import itself.
      if ([...compiled.code.matchAll(uses)].length < 2) return statement;
      isChanged = true;
      return `import * as __${name} ${from}; const ${name} = __callable(__${name});`;
    },
  );
  if (!isChanged) return compiled;
  const found = 'typeof found["module.exports"] === "function"';
  const helper = `const __callable = (found) => (${found} ? (${CALLABLE})(found["module.exports"]) : found);`;
  return lineAbove(helper, { ...compiled, code });
}

export const lineAbove = (line: string, { code, map }: Compiled): Compiled => ({
  code: `${line}\n${code}`,
  map: { ...map, mappings: `;${map.mappings}` },
});
