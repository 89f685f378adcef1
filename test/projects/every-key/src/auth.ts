import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth().authenticate((request: Request) => {
  const team = request.headers.get('x-team');
  if (team === null) throw new HTTPException(401, { message: 'x-team is missing' });
  return { identity: team, permissions: [] };
});
