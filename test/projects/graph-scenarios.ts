import { CURRENT_LINES, type Line } from './lines.ts';
import type { Scenario } from './steps.ts';

export interface ProjectScenarios {
  /** Those of its lines that it runs on in `npm test`; the newest unless told otherwise. */
  readonly usualLines?: readonly Line[];
  readonly scenarios: readonly Scenario[];
  /** Also runs on the libraries of two and more years ago. */
  readonly older?: true;
}

const say = (content: string): { messages: unknown[] } => ({ messages: [{ role: 'user', content }] });

export const GRAPHS: Readonly<Record<string, ProjectScenarios>> = {
  'annotation-chat': {
    usualLines: CURRENT_LINES,
    older: true,
    scenarios: [
      {
        graph: 'chat',
        source: './src/chat.ts:graph',
        steps: [
          { do: 'run', input: say('hello there') },
          { do: 'state' },
          { do: 'run', input: say('how is the weather') },
          { do: 'history' },
          { do: 'run', from: 2, input: say('something else') },
          { do: 'history' },
          { do: 'update', values: { topics: ['by hand'] }, asNode: 'classify' },
          { do: 'state' },
          { do: 'restart' },
          { do: 'run', input: say('after the restart'), modes: ['values'] },
          { do: 'run', thread: 'second', input: say('stop early'), interruptBefore: ['answer'] },
          { do: 'state', thread: 'second' },
          { do: 'run', thread: 'second' },
          { do: 'wait', thread: 'second', input: say('last words') },
          { do: 'history', thread: 'second' },
        ],
      },
      {
        graph: 'patient',
        source: './src/patient.ts:graph',
        steps: [{ do: 'killed', input: { log: [] } }, { do: 'history' }],
      },
      {
        graph: 'failing',
        source: './src/failing.ts:graph',
        steps: [
          { do: 'run', input: { how: 'throw' } },
          { do: 'state' },
          { do: 'run', thread: 'b', input: { how: 'type' } },
          { do: 'state', thread: 'b' },
          { do: 'run', thread: 'c', input: { how: 'loop' }, recursionLimit: 4, modes: ['updates'] },
          { do: 'state', thread: 'c' },
          { do: 'run', thread: 'c', input: { how: 'fine' }, modes: ['updates'] },
          { do: 'history', thread: 'c' },
        ],
      },
    ],
  },
  'zod-state': {
    scenarios: [
      {
        graph: 'writer',
        source: './src/writer.ts:graph',
        steps: [
          { do: 'run', input: { title: 'spring' } },
          { do: 'run', input: { title: 'summer' }, context: { tone: 'loud', signature: 'Ada' } },
          { do: 'history' },
          { do: 'run', refused: true, input: { title: 7 }, modes: ['values'] },
          { do: 'run', refused: true, input: { title: 'x' }, context: { tone: 'wrong' }, modes: ['values'] },
          { do: 'state' },
        ],
      },
    ],
  },
  'map-reduce': {
    older: true,
    scenarios: [
      {
        graph: 'jokes',
        source: './src/jokes.ts:graph',
        steps: [
          { do: 'run', input: { topic: 'cats' } },
          { do: 'history' },
          { do: 'run', thread: 'stopped', input: { topic: 'dogs' }, interruptBefore: ['joke'] },
          { do: 'state', thread: 'stopped' },
          { do: 'restart' },
          { do: 'run', thread: 'stopped' },
          { do: 'wait', thread: 'stopped', input: { topic: 'birds' } },
        ],
      },
    ],
  },
  subgraphs: {
    usualLines: CURRENT_LINES,
    older: true,
    scenarios: [
      {
        graph: 'parent',
        source: './src/parent.ts:graph',
        steps: [
          { do: 'run', input: { log: ['start'] }, subgraphs: true },
          { do: 'state', subgraphs: true },
          { do: 'restart' },
          { do: 'run', resume: 'yes', subgraphs: true },
          { do: 'run', input: { log: ['second'] } },
          { do: 'run', resume: 'no' },
          { do: 'history' },
        ],
      },
    ],
  },
  'many-interrupts': {
    scenarios: [
      {
        graph: 'survey',
        source: './src/survey.js:graph',
        steps: [
          { do: 'run', input: { summary: 'none' } },
          { do: 'state' },
          { do: 'restart' },
          { do: 'run', answers: [9, 'Ada', 'Rome'] },
          { do: 'state' },
          { do: 'run', answers: ['Via Appia'] },
          { do: 'history' },
          { do: 'wait', thread: 'other', input: { summary: 'none' } },
        ],
      },
    ],
  },
  functional: {
    usualLines: CURRENT_LINES,
    older: true,
    scenarios: [
      {
        graph: 'essay',
        source: './src/essay.ts:essay',
        steps: [
          { do: 'run', input: { topic: 'tea' } },
          { do: 'state' },
          { do: 'restart' },
          { do: 'run', resume: 'good' },
          { do: 'state' },
          { do: 'run', input: { topic: 'coffee' } },
          { do: 'wait', resume: 'better' },
          { do: 'history' },
        ],
      },
    ],
  },
  'store-memory': {
    older: true,
    scenarios: [
      {
        graph: 'memory',
        source: './src/memory.ts:graph',
        steps: [
          { do: 'run', input: say('remember tea with milk'), configurable: { person: 'ada' } },
          { do: 'run', thread: 'b', input: say('hello'), configurable: { person: 'ada' } },
          { do: 'run', thread: 'c', input: say('remember coffee black'), configurable: { person: 'bob' } },
          { do: 'items', namespace: ['people', 'ada'] },
          { do: 'restart' },
          { do: 'run', input: say('forget tea'), configurable: { person: 'ada' } },
          { do: 'items', namespace: ['people'] },
        ],
      },
    ],
  },
  factory: {
    scenarios: [
      {
        graph: 'made',
        source: './src/made.ts:makeGraph',
        steps: [
          { do: 'run', input: { steps: [] }, configurable: { steps: 2 } },
          { do: 'run', thread: 'asks', input: { steps: [] }, configurable: { steps: 3, asks: true } },
          { do: 'run', thread: 'asks', resume: 'more', configurable: { steps: 3, asks: true } },
          { do: 'wait', input: { steps: [] } },
          { do: 'history', thread: 'asks', configurable: { steps: 3, asks: true } },
        ],
      },
      {
        graph: 'short',
        source: './src/others.ts:default',
        steps: [
          { do: 'run', input: { said: 'I say' }, configurable: { word: 'hello' } },
          { do: 'update', values: { said: 'you say' }, asNode: 'say' },
          { do: 'wait', input: {} },
          { do: 'state' },
        ],
      },
      {
        graph: 'once',
        source: './src/others.ts:once',
        steps: [{ do: 'run', input: { said: 'once' } }, { do: 'history' }],
      },
    ],
  },
  'react-agent': {
    older: true,
    scenarios: [
      {
        graph: 'agent',
        source: './src/agent.ts:agent',
        steps: [
          { do: 'run', input: say('1+2 and 3+4?') },
          { do: 'run', input: say('use the broken one') },
          { do: 'history' },
        ],
      },
    ],
  },
  'odd-values': {
    scenarios: [
      {
        graph: 'odd',
        source: './src/odd.ts:graph',
        steps: [
          { do: 'run', input: { text: 'start' } },
          { do: 'state' },
          { do: 'restart' },
          { do: 'run', resume: { nested: [null, { a: [] }] } },
          { do: 'history' },
        ],
      },
      {
        graph: 'messages',
        source: './src/messages.ts:graph',
        steps: [
          { do: 'run', input: say('hi') },
          { do: 'state' },
          { do: 'update', values: say('by hand'), asNode: 'replace' },
          { do: 'history' },
        ],
      },
    ],
  },
  features: {
    scenarios: [
      {
        graph: 'handoff',
        source: './src/handoff.ts:graph',
        steps: [{ do: 'run', input: { log: ['start'] }, subgraphs: true }, { do: 'history' }],
      },
      {
        graph: 'policies',
        source: './src/policies.ts:graph',
        steps: [
          { do: 'run', input: { tries: 0 }, context: { tone: 'calm' } },
          { do: 'state' },
          { do: 'wait', thread: 'b', input: { tries: 0 } },
        ],
      },
      {
        graph: 'channels',
        source: './src/channels.ts:graph',
        steps: [
          { do: 'run', input: { title: 'bees' } },
          { do: 'history' },
          { do: 'wait', input: { lines: 'by hand' } },
          { do: 'update', values: { lines: 'updated' } },
          { do: 'state' },
        ],
      },
      {
        graph: 'private',
        source: './src/private.ts:graph',
        steps: [
          { do: 'run', input: { question: 'why' } },
          { do: 'state' },
          { do: 'wait', input: { question: 'how' } },
          { do: 'restart' },
          { do: 'wait', input: { question: 'when' }, interruptBefore: ['reply'] },
        ],
      },
      {
        graph: 'promised',
        source: './src/promised.ts:graph',
        steps: [
          { do: 'run', input: { n: 1 } },
          { do: 'wait', input: { n: 5 } },
        ],
      },
    ],
  },
};
