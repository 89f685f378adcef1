/** Parses the result of `authenticate`. */
import { findTextProblem, isObject, type JsonObject } from '../kernel/json.ts';
import { toPlain } from './plain.ts';
import { ToldFault } from './refusal.ts';

/** The caller in the form for graph code and handlers, with all further fields of the handler's result. */
export type AuthUser = JsonObject & {
  readonly identity: string;
  readonly display_name: string;
  readonly permissions: string[];
  readonly is_authenticated: true;
};

/**
 * Copies the result of `authenticate` and fills in defaults. Undefined for `is_authenticated: false`. Throws a `TypeError`
 * that has field names but no values; clients see it only for a missing identity (`ToldFault`).
 */
export function parseUser(raw: unknown): AuthUser | undefined {
  const fields = typeof raw === 'string' ? { identity: raw } : toPlain(raw ?? null, 'the auth user', 'drop');
  const {
    identity,
    display_name: name = identity,
    permissions = [],
    is_authenticated: known = true,
  } = isObject(fields) ? fields : {};
  if (known === false) return undefined;
  if (known !== true) throw new TypeError('the auth user: is_authenticated must be a boolean');
  if (typeof identity !== 'string' || identity === '')
    throw new ToldFault('the auth user: identity must be a non-empty string', 400);
  const problem = findTextProblem(identity);
  if (problem !== undefined) throw new TypeError(`the auth user: identity holds ${problem}`);
  if (typeof name !== 'string') throw new TypeError('the auth user: display_name must be a string');
  if (!Array.isArray(permissions) || !permissions.every((each) => typeof each === 'string'))
    throw new TypeError('the auth user: permissions must be an array of strings');
  return { ...(fields as JsonObject), identity, display_name: name, permissions, is_authenticated: true };
}
