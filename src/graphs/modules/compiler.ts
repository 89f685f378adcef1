/**
 * The compiler of TypeScript and JSX. It is oxc, an addon that loads before the first user file; a process that may load
 * no addons sets another one.
 */
export type Compiler = Pick<typeof import('oxc-transform'), 'moduleRunnerTransformSync' | 'transformSync'>;

let current: Compiler | undefined;

export function setCompiler(compiler: Compiler): void {
  current = compiler;
}

export async function loadCompiler(): Promise<void> {
  current ??= await import('oxc-transform');
}

export function compiler(): Compiler {
  if (current === undefined) throw new Error('loadCompiler() was not awaited');
  return current;
}
