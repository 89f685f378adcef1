/**
 * The TypeScript compiler API that is used here. It comes from the copy that `ts-json-schema-generator` depends on,
 * because the newest compiler has no API yet.
 */
import { createRequire } from 'node:module';
import type { createProgram } from 'ts-json-schema-generator';

export type Program = ReturnType<typeof createProgram>;
export type Checker = ReturnType<Program['getTypeChecker']>;
export type Type = ReturnType<Checker['getStringType']>;
export type TypeSymbol = ReturnType<Type['getProperties']>[number];
export type SourceFile = NonNullable<ReturnType<Program['getSourceFile']>>;
export type SyntaxNode = Parameters<Checker['getTypeAtLocation']>[0];
type Options = ReturnType<Program['getCompilerOptions']>;

export interface Compiler {
  readonly sys: { fileExists(path: string): boolean; readFile(path: string): string | undefined };
  readonly SymbolFlags: { readonly Optional: number; readonly Alias: number };
  readonly ScriptTarget: { readonly ESNext: number };
  readonly ModuleKind: { readonly ESNext: number };
  readonly ModuleResolutionKind: { readonly Bundler: number };
  readonly JsxEmit: { readonly Preserve: number };
  createCompilerHost(options: object): { readFile(path: string): string | undefined };
  createProgram(files: readonly string[], options: object, host: object): Program;
  findConfigFile(folder: string, fileExists: (path: string) => boolean): string | undefined;
  readConfigFile(
    path: string,
    readFile: (path: string) => string | undefined,
  ): { config?: unknown; error?: unknown };
  parseJsonConfigFileContent(config: unknown, host: object, folder: string): { options: Options };
  forEachChild(node: SyntaxNode, visit: (child: SyntaxNode) => void): void;
  isCallExpression(node: SyntaxNode): node is CallNode;
  isPropertyAccessExpression(node: SyntaxNode): node is SyntaxNode & { readonly name: { text: string } };
  isStringLiteralLike(node: SyntaxNode): node is SyntaxNode & { readonly text: string };
}

type CallNode = SyntaxNode & {
  readonly expression: SyntaxNode;
  readonly arguments: readonly SyntaxNode[];
};

export function loadCompiler(): Compiler {
  const near = createRequire(import.meta.url).resolve('ts-json-schema-generator');
  return createRequire(near)('typescript') as Compiler;
}
