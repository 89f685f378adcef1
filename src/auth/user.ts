import { findTextProblem, isObject, type JsonObject } from '../kernel/json.ts';
import { toPlain } from './plain.ts';
import { ToldFault } from './refusal.ts';

/** The caller in the form that graph code and handlers know; every further field of the handler's answer is kept. */
export type AuthUser = JsonObject & {
  readonly identity: string;
  readonly display_name: string;
  readonly permissions: string[];
  readonly is_authenticated: true;
};

/**
 * Makes a user of what `authenticate` returned: a fresh, plain copy with the defaults filled in. Undefined when the
 * answer says `is_authenticated: false`; throws a `TypeError` (naming fields, never values) when it makes no sense, told to clients for a missing identity.
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
