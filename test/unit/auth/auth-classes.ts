import { Auth as OfficialAuth, HTTPException as OfficialException } from '@langchain/langgraph-sdk/auth';
import { Auth, HTTPException } from '../../../src/auth/auth.ts';
import { recogniseAuth, type AuthHandler } from '../../../src/auth/handler.ts';

/** Both Auth classes without their types, so that fixtures can also misbehave. */
export interface AnyAuth {
  authenticate(callback: (request: Request) => unknown): AnyAuth;
  on(key: string | string[], callback: unknown): AnyAuth;
  '~handlerCache': { authenticate?: unknown; callbacks?: Record<string, unknown> };
}

interface ExceptionOptions {
  message?: string;
  headers?: Record<string, string> | [string, string][] | Headers;
  cause?: unknown;
}

type AnyException = Error & { status: number; headers: ExceptionOptions['headers'] };
type OfficialOptions = ConstructorParameters<typeof OfficialException>[1];

export interface AuthClasses {
  readonly name: string;
  create(): AnyAuth;
  exception(status: number, options?: ExceptionOptions): AnyException;
}

export const AUTH_CLASSES: readonly AuthClasses[] = [
  {
    name: 'our Auth',
    create: () => new Auth() as unknown as AnyAuth,
    exception: (status, options) => new HTTPException(status, options),
  },
  {
    name: 'the official Auth',
    create: () => new OfficialAuth() as unknown as AnyAuth,
    exception: (status, options) => new OfficialException(status, options as OfficialOptions) as AnyException,
  },
];

export function recognised(auth: AnyAuth): AuthHandler {
  const handler = recogniseAuth(auth);
  if (handler === undefined) throw new Error('the auth object was not recognised');
  return handler;
}
