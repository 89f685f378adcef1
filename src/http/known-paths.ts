/** Finds the methods of a path, for 405 replies and trailing slashes. Used only when no route matched. */
import type { Operation } from './endpoint.ts';
import { byLiterals } from './router.ts';

export interface KnownPaths {
  /**
   * Methods in upper case, `HEAD` with every `GET`; undefined for a path that is not known. A path that several patterns
   * match belongs to the one with literal segments.
   */
  methodsOf(path: string): readonly string[] | undefined;
}

export function createKnownPaths(operations: readonly Pick<Operation, 'method' | 'path'>[]): KnownPaths {
  const byPath = new Map<string, { readonly pattern: RegExp; readonly methods: string[] }>();
  for (const { method, path } of [...operations].sort(byLiterals)) {
    const known = byPath.get(path) ?? { pattern: toPattern(path), methods: [] };
    known.methods.push(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    byPath.set(path, known);
  }
  return {
    methodsOf: (path) => [...byPath.values()].find(({ pattern }) => pattern.test(path))?.methods.toSorted(),
  };
}

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
