/**
 * Just enough of a vitest-style runner to run the library's own validation suite for checkpoint savers under uvu: the
 * suite expects `describe`, `it`, hooks and `expect` as globals.
 */
import * as assert from 'node:assert/strict';

type Hook = () => unknown;
interface Scope {
  readonly title: string;
  readonly parent: Scope | undefined;
  readonly hooks: Record<'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach', Hook[]>;
  readonly children: (Scope | Spec)[];
}
interface Spec {
  readonly title: string;
  readonly body: () => unknown;
}

export interface SpecResult {
  readonly title: string;
  readonly error?: unknown;
}

/** Collects what `define` declares, runs it, and puts the globals back. */
export async function runSpecs(define: () => void): Promise<SpecResult[]> {
  const root: Scope = newScope('', undefined);
  let current = root;
  const describe = (title: string, body: () => void): void => {
    const scope = newScope(title, current);
    current.children.push(scope);
    current = scope;
    body();
    current = scope.parent ?? root;
  };
  const it = (title: string, body: () => unknown): void => void current.children.push({ title, body });
  const each =
    <T>(declare: (title: string, body: () => never) => void) =>
    (rows: readonly T[]) =>
    (title: string, body: (row: T) => unknown): void =>
      rows.forEach((row) => declare(titleOf(title, row), (() => body(row)) as () => never));
  const hook = (name: keyof Scope['hooks']) => (body: Hook) => void current.hooks[name].push(body);
  const globals = {
    describe: Object.assign(describe, { each: each(describe as never) }),
    it: Object.assign(it, { each: each(it), skip: () => undefined }),
    beforeAll: hook('beforeAll'),
    afterAll: hook('afterAll'),
    beforeEach: hook('beforeEach'),
    afterEach: hook('afterEach'),
    expect: Object.assign(expect, {
      soft: expect,
      arrayContaining: (items: unknown[]) => new Containing(items),
    }),
  };
  const before = { ...(globalThis as Record<string, unknown>) };
  Object.assign(globalThis, globals);
  try {
    define();
    const results: SpecResult[] = [];
    await runScope(root, [], results);
    return results;
  } finally {
    for (const name of Object.keys(globals))
      if (name in before) Object.assign(globalThis, { [name]: before[name] });
      else delete (globalThis as Record<string, unknown>)[name];
  }
}

const newScope = (title: string, parent: Scope | undefined): Scope => ({
  title,
  parent,
  hooks: { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] },
  children: [],
});

const titleOf = (title: string, row: unknown): string =>
  title
    .replace('%s', String(row))
    .replace('$description', String((row as { description?: unknown } | null)?.description));

async function runScope(scope: Scope, outer: readonly Scope[], results: SpecResult[]): Promise<void> {
  const chain = [...outer, scope];
  const prefix = chain.map(({ title }) => title).join(' ');
  for (const hook of scope.hooks.beforeAll) await hook();
  for (const child of scope.children) {
    if ('children' in child) {
      await runScope(child, chain, results);
      continue;
    }
    const title = `${prefix} ${child.title}`;
    try {
      for (const each of chain) for (const hook of each.hooks.beforeEach) await hook();
      await child.body();
      for (const each of chain.toReversed()) for (const hook of each.hooks.afterEach) await hook();
      results.push({ title });
    } catch (error) {
      results.push({ title, error });
    }
  }
  for (const hook of scope.hooks.afterAll) await hook();
}

class Containing {
  readonly items: unknown[];
  constructor(items: unknown[]) {
    this.items = items;
  }
}

function expect(actual: unknown) {
  return {
    toBe: (expected: unknown) => assert.equal(actual, expected),
    toEqual(expected: unknown) {
      if (expected instanceof Containing)
        for (const item of expected.items) assert.ok((actual as unknown[]).includes(item));
      else assert.deepEqual(defined(actual), defined(expected));
    },
    toBeDefined: () => assert.notEqual(actual, undefined),
    toBeUndefined: () => assert.equal(actual, undefined),
    toBeTruthy: () => assert.ok(actual),
    not: { toBeUndefined: () => assert.notEqual(actual, undefined) },
    rejects: { toThrow: () => assert.rejects(actual as Promise<unknown>) },
  };
}

/** Without members that are undefined: the suite does not tell them from missing ones. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, defined(item)]));
}
