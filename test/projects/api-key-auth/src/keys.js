import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth().authenticate((request) => {
  if (request.headers.get('x-api-key') !== process.env.TEAM_KEY)
    throw new HTTPException(403, { message: 'No key' });
  return 'team';
});
