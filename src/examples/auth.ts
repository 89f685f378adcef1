/** Bearer tokens; each thread belongs to its creator. `platform.json`: `"auth": { "path": "./auth.ts:auth" }`. */
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
  // Stores the owner in the metadata, which the filter compares.
  .on(['threads:create', 'threads:update', 'threads:create_run'], ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  // All users may use the graphs.
  .on(['assistants:read', 'assistants:search'], () => true);
