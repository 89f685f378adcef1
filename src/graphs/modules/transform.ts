/** Compiles TypeScript and JSX to JavaScript with the options of the nearest tsconfig.json. */
import { extname } from 'node:path';
import type { HelperMode, JsxOptions, OxcError, TransformOptions } from 'oxc-transform';
import { pathToFileURL } from 'node:url';
import { compiler } from './compiler.ts';
import type { ModuleFormat } from './format.ts';
import { findProjectSettings, type ProjectSettings } from './settings.ts';
import { loosenTypeImports } from './type-imports.ts';

export interface SourceMap {
  readonly version: number;
  readonly sources: readonly string[];
  readonly names: readonly string[];
  readonly mappings: string;
}

export interface Compiled {
  readonly code: string;
  readonly map: SourceMap;
}

/** Throws a `SyntaxError` whose message begins with `file:line:column: ` and ends with the code frame. */
export function transform(file: string, text: string, format: ModuleFormat): Compiled {
  const options: TransformOptions = {
    ...toOptions(findProjectSettings(file).compilerOptions),
    lang: LANGUAGES[extname(file)] ?? 'ts',
    sourceType: format,
  };
  const { code, map, errors, helpersUsed } = compiler().transformSync(file, text, {
    ...options,
    sourcemap: true,
  });
  const [error] = errors.filter(({ severity }) => severity === 'Error');
  if (error !== undefined) throw toSyntaxError(file, text, error);
  if (options.decorator?.legacy !== true) refuseDecorators(file, text, options);
  // A missing export of CommonJS is undefined anyway.
  const hasMetadata = format === 'module' && helpersUsed['decorateMetadata'] !== undefined;
  const plain = { ...options, decorator: { legacy: true } };
  const linked = hasMetadata
    ? loosenTypeImports(code, compiler().transformSync(file, text, plain).code)
    : code;
  // `#!` becomes a comment: it is valid in the first line only, and lines may be added above it.
  return { code: linked.replace(/^#!/, '//'), map: toMap(file, map!) };
}

/** Throws for decorators without `experimentalDecorators`: Node cannot run them and oxc compiles only legacy ones. */
function refuseDecorators(file: string, text: string, options: TransformOptions): void {
  const found = /^\s*(?:export\s+(?:default\s+)?)?(?=@[\w$(])/m.exec(text);
  if (found === null) return;
  const { helpersUsed } = compiler().transformSync(file, text, { ...options, decorator: { legacy: true } });
  if (helpersUsed['decorate'] === undefined) return;
  const place = placeOf(text, found.index + found[0].length);
  const advice = 'decorators run only with "experimentalDecorators": true in the nearest tsconfig.json';
  throw new SyntaxError(`${file}:${place}: ${advice}`);
}

/** A source map without `sourcesContent`: Node reads the file to show a line. */
export const toMap = (file: string, { version, names, mappings }: Omit<SourceMap, 'sources'>): SourceMap => ({
  version,
  names,
  mappings,
  sources: [pathToFileURL(file).href],
});

const LANGUAGES: Readonly<Record<string, 'js' | 'jsx' | 'tsx'>> = {
  '.tsx': 'tsx',
  '.jsx': 'jsx',
  '.js': 'js',
  '.cjs': 'js',
};

function toOptions(options: ProjectSettings['compilerOptions']): TransformOptions {
  const { jsxFactory, jsxFragmentFactory } = options;
  const definesFields =
    options.useDefineForClassFields ?? !/^es(?:[356]|20(?:1\d|2[01]))$/i.test(options.target ?? '');
  return {
    typescript: {
      onlyRemoveTypeImports: false,
      removeClassFieldsWithoutInitializer: !definesFields,
      ...(jsxFactory !== undefined && { jsxPragma: jsxFactory.split('.')[0]! }),
      ...(jsxFragmentFactory !== undefined && { jsxPragmaFrag: jsxFragmentFactory.split('.')[0]! }),
    },
    assumptions: { setPublicClassFields: !definesFields },
    decorator: {
      legacy: options.experimentalDecorators === true,
      emitDecoratorMetadata: options.emitDecoratorMetadata === true,
    },
    helpers: { mode: 'External' as HelperMode },
    jsx: toJsx(options),
  };
}

/** The default JSX runtime is `automatic`, which needs no import in the file. */
function toJsx({ jsx, jsxImportSource, jsxFactory, jsxFragmentFactory }: ProjectSettings['compilerOptions']) {
  if (jsx !== 'react' && jsxFactory === undefined)
    return {
      runtime: 'automatic',
      development: jsx === 'react-jsxdev',
      ...(jsxImportSource !== undefined && { importSource: jsxImportSource }),
    } satisfies JsxOptions;
  return {
    runtime: 'classic',
    ...(jsxFactory !== undefined && { pragma: jsxFactory }),
    ...(jsxFragmentFactory !== undefined && { pragmaFrag: jsxFragmentFactory }),
  } satisfies JsxOptions;
}

function toSyntaxError(
  file: string,
  text: string,
  { message, codeframe, labels, helpMessage }: OxcError,
): Error {
  const [, line, column] = /:(\d+):(\d+)\]/.exec(codeframe ?? '') ?? [];
  const place = line === undefined ? placeOf(text, labels[0]?.start ?? 0) : `${line}:${column}`;
  const help = helpMessage === null ? '' : ` (${helpMessage})`;
  const frame = (codeframe ?? '').split('\n').filter((row) => /^\s*(?:\d+ \||:)/.test(row));
  return new SyntaxError([`${file}:${place}: ${message}${help}`, ...frame].join('\n'));
}

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `${lines.length}:${lines.at(-1)!.length + 1}`;
}
