/** Creates the authenticator and the authorizer, and warns about operations without a handler. */
import { createAuthenticator, type AuthenticatorOptions, type AuthResult } from './authenticate.ts';
import { createAuthorizer, type Authorize } from './authorize.ts';
import { uncovered } from './coverage.ts';

export interface AuthOptions extends Omit<AuthenticatorOptions, 'onFault'> {
  /** `handler`: the operation whose handler has the fault, or `authenticate`. */
  readonly onFault: (error: unknown, handler: string) => void;
  /** Called at most once, with a text that lists the operations without a handler. */
  readonly onWarning?: ((text: string) => void) | undefined;
}

export interface OpenAuth {
  readonly authenticate: (request: Request) => Promise<AuthResult>;
  readonly authorize: Authorize;
}

/** Throws a `TypeError` if the handler is broken. */
export function openAuth(options: AuthOptions): OpenAuth {
  const open = options.handler === undefined ? [] : uncovered(options.handler);
  if (open.length > 0)
    options.onWarning?.(
      `auth: no handler covers ${open.join(', ')}: every authenticated caller may do these`,
    );
  return {
    authenticate: createAuthenticator({
      ...options,
      onFault: (error) => options.onFault(error, 'authenticate'),
    }),
    authorize: createAuthorizer(options),
  };
}
