/** The user of requests from a studio, in the shape that the official client's `isStudioUser` recognises. */
import type { AuthUser } from './user.ts';

export const STUDIO_USER: AuthUser = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  permissions: [],
  is_authenticated: true,
};

export const asksAsStudio = (headers: Headers): boolean => headers.get('x-auth-scheme') === 'langsmith';
