/** Graphs with one mistake each. The line that `dev` has to name ends with `//!`. */

export interface Planted {
  readonly source: string;
  /** What the console says of the mistake, besides its line. */
  readonly says: RegExp;
  readonly input?: object;
}

const GRAPH = `import { Annotation, Command, END, Send, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ count: Annotation<number>, words: Annotation<string[]> });
`;

/** A graph whose only node has this function. */
const node = (fn: string): string => `${GRAPH}const work = ${fn};
export const graph = new StateGraph(State).addNode('work', work as never).addEdge(START, 'work').compile();
`;

/** Named while the project is loaded. */
export const PLANTED_IN_LOADING: Readonly<Record<string, Planted>> = {
  syntax: { source: `export const graph = (state) => ({ said: );//!`, says: /SyntaxError.*Unexpected token/ },
  'missing-file': {
    source: `import { words } from './wrods.ts'; //!\nexport const graph = () => words;`,
    says: /Cannot find module '.*wrods\.ts'/,
  },
  'missing-package': {
    source: `import '@acme/models'; //!\nexport const graph = () => ({});`,
    says: /Cannot find package '@acme\/models'.*; npm install @acme\/models/,
  },
  'missing-export': {
    source: `import { talk } from './helper.ts'; //!\nexport const graph = () => talk;`,
    says: /does not provide an export named 'talk'/,
  },
  'edge-to-nowhere': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('work', () => ({}))
  .addEdge(START, 'work')
  .addEdge('work', 'wrok' as never)
  .compile(); //!`,
    says: /unknown node `wrok`/,
  },
  'unreached-node': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('work', () => ({}))
  .addNode('rest', () => ({}))
  .addEdge(START, 'work')
  .compile(); //!`,
    says: /Node `rest` is not reachable/,
  },
  'unset-variable': {
    source: `const url = process.env.ACME_MODEL_URL!.trim(); //!\nexport const graph = () => ({ url });`,
    says: /ACME_MODEL_URL is not set: add it to the env file/,
  },
};

/** Named when the graph runs, at the latest at the run's end. */
export const PLANTED_IN_RUNS: Readonly<Record<string, Planted>> = {
  'within-helper': {
    source: node(`async (state) => (await import('./helper.ts')).first(state.words)`),
    says: /TypeError: Cannot read properties of undefined \(reading '0'\)\n {4}at .*helper\.ts:1:/,
  },
  'thrown-string': { source: node(`() => { //!\n  throw 'no luck';\n}`), says: /Error: no luck/ },
  'thrown-undefined': { source: node(`() => { //!\n  throw undefined;\n}`), says: /undefined was thrown/ },
  'nested-cause': {
    source: node(`async () => {
  throw new Error('the model failed', { cause: new RangeError('quota of today') }); //!
}`),
    says: /Error: the model failed\n {4}caused by RangeError: quota of today/,
  },
  'unset-key': {
    source: node(`() => {
  if (!process.env.ACME_API_KEY) throw new Error('The ACME_API_KEY environment variable is missing'); //!
}`),
    says: /ACME_API_KEY is not set: add it to the env file/,
  },
  'no-object': { source: node(`() => 'done' //!\n`), says: /Expected node "work" to return an object/ },
  'not-awaited': {
    source: node(`() => ({ count: Promise.resolve(1) }) //!\n`),
    says: /count is a promise; is an await missing\?/,
  },
  'function-in-state': {
    source: node(`() => ({ words: [() => 1] }) //!\n`),
    says: /words\[0\] is a function and cannot be stored/,
  },
  'rejects-later': {
    source: node(`async () => {
  void Promise.resolve().then(() => {
    throw new Error('nobody waits for this'); //!
  });
  await new Promise((resolve) => setTimeout(resolve, 10_000));
}`),
    says: /run failed: graph "rejects-later"[^]*Error: nobody waits for this/,
  },
  'throws-in-timer': {
    source: node(`async () => {
  setTimeout(() => {
    throw new Error('late'); //!
  }, 1);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
}`),
    says: /run failed: graph "throws-in-timer"[^]*Error: late/,
  },
  exits: { source: node(`() => process.exit(3) //!\n`), says: /ProcessExit: .*process\.exit\(3\)/ },
  'endless-calls': {
    source: node(`() => {
  const again = (): number => again() + 1; //!
  return { count: again() };
}`),
    says: /RangeError: Maximum call stack/,
  },
  reducer: {
    source: `${GRAPH}const Words = Annotation.Root({
  words: Annotation<string[]>({
    reducer: (a, b) => [...a, ...b], //!
    default: () => [],
  }),
});
export const graph = new StateGraph(Words)
  .addNode('say', () => ({ words: 7 }) as never)
  .addEdge(START, 'say')
  .compile();`,
    says: /node "say", channel "words".*\n(?:.*\n)+? {4}TypeError: b is not iterable/,
  },
  'two-writers': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('left', () => ({ count: 1 })) //!
  .addNode('right', () => ({ count: 2 }))
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .compile();`,
    says: /node "left, right", channel "count"/,
  },
  'endless-loop': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('think', () => ({ count: 1 }))
  .addNode('act', () => ({ count: 2 })) //!
  .addEdge(START, 'think')
  .addEdge('think', 'act')
  .addEdge('act', 'think')
  .compile();`,
    says: /node "act → think"[^]*GraphRecursionError/,
  },
  'unlisted-edge': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('work', () => ({}))
  .addEdge(START, 'work')
  .addConditionalEdges('work', () => 'maybe', { yes: 'work', no: END }) //!
  .compile();`,
    says: /Branch condition returned unknown.*\n {4}it may return "yes", "no"/,
  },
  'sent-to-nobody': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('work', () => ({}))
  .addEdge(START, 'work')
  .addConditionalEdges('work', () => [new Send('nobody', {})]) //!
  .compile();`,
    says: /Invalid node name "nobody"/,
  },
  'plain-text-update': {
    source: `export async function* graph(state: object, config: object) { //!\n  yield 'text' as never;\n}`,
    says: /An update must be an object, not string/,
  },
};

/** Runs that succeed and did something in vain: the warning stands in `replay`, too. */
export const PLANTED_SILENTLY: Readonly<Record<string, Planted>> = {
  'tool-throws': {
    source: `import { createAgent, FakeToolCallingModel, tool } from 'langchain';
import { z } from 'zod';
const add = tool(
  () => {
    throw new RangeError('no adding today'); //!
  },
  { name: 'add', description: 'adds', schema: z.object({}) },
);
const model = new FakeToolCallingModel({ toolCalls: [[{ name: 'add', args: {}, id: '1' }], []] });
export const graph = createAgent({ model, tools: [add] });`,
    input: { messages: [{ role: 'user', content: 'add' }] },
    says: /step \d: The tool "add" threw RangeError: no adding today; the node "tools" told only the model/,
  },
  'edge-to-lost-node': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('work', () => ({ count: 1 }))
  .addEdge(START, 'work')
  .addConditionalEdges('work', () => 'rest' as never) //!
  .compile();`,
    says: /step 1: The node "work" leads to "rest", which is no node: nothing runs there\. The nodes are "work"/,
  },
  'command-to-lost-node': {
    source: node(`() => new Command({ goto: 'rest' }) //!\n`),
    says: /step 1: The node "work" leads to "rest"/,
  },
  'unknown-member': {
    source: node(`() => ({ cuont: 1 }) //!\n`),
    says: /step 1: The node "work" returned "cuont", which the state does not have: dropped\. The state has "count", "words"/,
  },
  'nothing-runs': {
    source: `${GRAPH}export const graph = new StateGraph(State)
  .addNode('work', () => ({ count: 1 }))
  .addConditionalEdges(START, () => END, ['work', END]) //!
  .compile();`,
    says: /No node ran: START led to END/,
  },
  'no-parent': {
    source: node(`() => new Command({ graph: Command.PARENT, goto: 'rest' }) //!\n`),
    says: /step 1: The node "work" returned a command for the graph around it, and there is none/,
  },
};

export const HELPER = `export const first = (words: string[]) => ({ count: words[0].length });\n`;
