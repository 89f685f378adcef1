/** The projects that `init` writes. */

export interface Template {
  /** What it is, for the help. */
  readonly summary: string;
  readonly files: Readonly<Record<string, string>>;
  /** Packages that its code imports. */
  readonly packages: readonly string[];
  /** Id of the graph to try. */
  readonly graph: string;
  /** Headers of a request that is let in. */
  readonly headers: readonly string[];
}

const HELLO = `// A plain function is a graph. It gets the thread's values with the run's input merged in, and returns what changes.

interface State {
  messages: { type: string; content: string }[];
}

export const graph = ({ messages }: State) => ({
  messages: [{ role: 'assistant', content: \`You said: \${messages.at(-1)?.content}\` }],
});
`;

const AGENT = `import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

// Needs no key and only pretends. A real model goes here: npm install @langchain/openai, and
// const model = new ChatOpenAI({ model: 'gpt-5' });
const model = new FakeListChatModel({ responses: ['Hello! Put a real model into agent.ts.'] });

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge('__start__', 'answer')
  .compile();
`;

const AUTH = `import { Auth, HTTPException } from 'rewound/auth';

// Who may call. In real life these come from a database or an identity provider.
const users: Record<string, string> = { 'token-of-ada': 'ada', 'token-of-bob': 'bob' };

export const auth = new Auth()
  .authenticate((request) => {
    const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
    const identity = users[token];
    if (!identity) throw new HTTPException(401, { message: 'Invalid token' });
    return { identity };
  })
  // Everybody sees what is their own, and nothing else.
  .on('*', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  });
`;

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export const TEMPLATES: Readonly<Record<string, Template>> = {
  function: {
    summary: 'a plain function, which needs nothing else',
    files: { 'platform.json': toJson({ graphs: { hello: './hello.ts:graph' } }), 'hello.ts': HELLO },
    packages: [],
    graph: 'hello',
    headers: [],
  },
  agent: {
    summary: 'a LangGraph agent in TypeScript',
    files: {
      'platform.json': toJson({ graphs: { agent: './agent.ts:graph' } }),
      'package.json': toJson({ private: true, type: 'module' }),
      'agent.ts': AGENT,
    },
    packages: ['@langchain/langgraph', '@langchain/core'],
    graph: 'agent',
    headers: [],
  },
  auth: {
    summary: 'an auth handler; with the function, unless there is a project',
    files: {
      'platform.json': toJson({
        graphs: { hello: './hello.ts:graph' },
        auth: { path: './auth.ts:auth' },
      }),
      'hello.ts': HELLO,
      'auth.ts': AUTH,
    },
    packages: [],
    graph: 'hello',
    headers: ['authorization: Bearer token-of-ada'],
  },
};
