/** The projects that `init` writes. */
import { AGENT, AGENT_TEST, ENV, STAND_IN } from './agent.ts';

export interface Template {
  /** What it is, for the help. */
  readonly summary: string;
  /** Files besides `package.json`, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Packages of its code, by name, with exact versions. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** The npm script `test`; absent without tests. */
  readonly test?: string;
  /** Id of the graph to try. */
  readonly graph: string;
  /** A message to try. */
  readonly message: string;
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

export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const TSCONFIG = toJson({
  compilerOptions: {
    ...{ target: 'es2023', module: 'nodenext', types: ['node'], strict: true },
    ...{ noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true },
  },
});

const IGNORED = 'node_modules/\n.platform/\n.env\n';

const FUNCTION: Template = {
  summary: 'a plain function, which needs no library',
  files: {
    'platform.json': toJson({ graphs: { hello: './hello.ts:graph' } }),
    'hello.ts': HELLO,
    '.gitignore': IGNORED,
  },
  ...{ dependencies: {}, devDependencies: {}, graph: 'hello', message: 'hello', headers: [] },
};

export const DEFAULT_TEMPLATE = 'agent';

export const TEMPLATES: Readonly<Record<string, Template>> = {
  agent: {
    summary: 'an agent with tools, one of which asks before it acts',
    files: {
      'platform.json': toJson({ graphs: { agent: './agent.ts:graph' }, env: '.env' }),
      'agent.ts': AGENT,
      'stand-in.ts': STAND_IN,
      'agent.test.ts': AGENT_TEST,
      'tsconfig.json': TSCONFIG,
      '.env': ENV,
      '.env.example': ENV,
      '.gitignore': IGNORED,
    },
    dependencies: {
      '@langchain/core': '1.4.0',
      '@langchain/langgraph': '1.7.3',
      langchain: '1.5.14',
      zod: '4.6.7',
    },
    devDependencies: { '@types/node': '24.19.2', tsx: '4.23.15' },
    test: 'tsx --test agent.test.ts',
    ...{ graph: 'agent', message: 'What is the weather in Oslo?', headers: [] },
  },
  function: FUNCTION,
  auth: {
    ...FUNCTION,
    summary: 'an auth handler; with the function, unless there is a project',
    files: {
      ...FUNCTION.files,
      'platform.json': toJson({
        graphs: { hello: './hello.ts:graph' },
        auth: { path: './auth.ts:auth' },
      }),
      'auth.ts': AUTH,
    },
    headers: ['authorization: Bearer token-of-ada'],
  },
};
