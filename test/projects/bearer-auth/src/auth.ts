import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

const users: Record<string, string> = { 'token-of-ada': 'ada', 'token-of-bob': 'bob' };

export const auth = new Auth()
  .authenticate(async (request: Request) => {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
    const identity = users[token];
    if (identity === undefined) throw new HTTPException(401, { message: 'Please sign in' });
    return { identity, permissions: ['threads:read'], is_authenticated: true, token };
  })
  .on('*', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('threads:delete', () => false)
  .on('store', ({ value, user }) => {
    value.namespace = [user.identity, ...(value.namespace ?? [])];
  })
  .on(['assistants:read', 'assistants:search'], () => true);
