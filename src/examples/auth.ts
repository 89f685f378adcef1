/** Bearer tokens, and every thread belongs to who made it. `platform.json`: `"auth": { "path": "./auth.ts:auth" }`. */
import { Auth, HTTPException } from 'rewound/auth';

const USERS: ReadonlyMap<string, string> = new Map([
  ['alice-token', 'alice'],
  ['bob-token', 'bob'],
]);

export const auth = new Auth()
  .authenticate((request) => {
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
    const identity = USERS.get(token);
    if (identity === undefined) throw new HTTPException(401, { message: 'Invalid token' });
    return { identity, permissions: [] };
  })
  .on('*', ({ user }) => ({ owner: user.identity }))
  // Stamped on what is made, so that the filter finds it again.
  .on(['threads:create', 'threads:update', 'threads:create_run'], ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  // The graphs are for everybody.
  .on(['assistants:read', 'assistants:search'], () => true);
