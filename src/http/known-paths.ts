/** Finds the methods of a path, for 405 replies and trailing slashes. Used only when no route matched. */
import type { Operation } from './endpoint.ts';

export interface KnownPaths {
  /** Methods in upper case, `HEAD` with every `GET`; undefined for a path that is not known. */
  methodsOf(path: string): readonly string[] | undefined;
}

export function createKnownPaths(operations: readonly Pick<Operation, 'method' | 'path'>[]): KnownPaths {
  const byPath = new Map<string, { readonly pattern: RegExp; readonly methods: string[] }>();
  for (const { method, path } of operations) {
    const known = byPath.get(path) ?? { pattern: toPattern(path), methods: [] };
    known.methods.push(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    byPath.set(path, known);
  }
  return {
    methodsOf(path) {
      // A path may match several patterns (a literal segment and a parameter): their methods are merged.
      const methods = [...byPath.values()].flatMap((known) =>
        known.pattern.test(path) ? known.methods : [],
      );
      return methods.length === 0 ? undefined : [...new Set(methods)].sort();
    },
  };
}

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
