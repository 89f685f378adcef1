/** Both questions of every request, who calls and whether they may, and what was found odd about the handler. */
import { createAuthenticator, type AuthenticatorOptions, type AuthResult } from './authenticate.ts';
import { createAuthorizer, type Authorize } from './authorize.ts';
import { uncovered } from './coverage.ts';

export interface AuthOptions extends AuthenticatorOptions {
  /** Hears, once, which operations no handler decides about. */
  readonly onWarning?: ((text: string) => void) | undefined;
}

export interface OpenAuth {
  readonly authenticate: (request: Request) => Promise<AuthResult>;
  readonly authorize: Authorize;
}

/** Throws what a handler that is none makes of the first question about it. */
export function openAuth(options: AuthOptions): OpenAuth {
  const open = options.handler === undefined ? [] : uncovered(options.handler);
  if (open.length > 0)
    options.onWarning?.(
      `auth: no handler covers ${open.join(', ')}: every authenticated caller may do these`,
    );
  return { authenticate: createAuthenticator(options), authorize: createAuthorizer(options) };
}
