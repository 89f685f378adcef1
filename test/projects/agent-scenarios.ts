import type { ProjectScenarios } from './graph-scenarios.ts';
import { CURRENT_LINES } from './lines.ts';

const say = (content: string): { messages: unknown[] } => ({ messages: [{ role: 'user', content }] });

export const AGENTS: Readonly<Record<string, ProjectScenarios>> = {
  'agent-tools': {
    usualLines: CURRENT_LINES,
    scenarios: [
      {
        graph: 'agent',
        source: './src/agent.ts:agent',
        steps: [
          { do: 'run', input: say('how is the weather?') },
          { do: 'state' },
          { do: 'run', input: say('both, please'), subgraphs: true },
          { do: 'history' },
          { do: 'run', from: 3, input: say('the weather again'), modes: ['messages', 'values'] },
          { do: 'killed', input: say('order an umbrella') },
          { do: 'history' },
          { do: 'wait', input: say('hello') },
          { do: 'heard', thread: 'heard', input: say('both, please') },
          { do: 'events', thread: 'events', input: say('both, please') },
          { do: 'run', thread: 'b', input: say('weather'), interruptBefore: ['tools'] },
          { do: 'run', thread: 'b' },
          { do: 'state', thread: 'b' },
        ],
      },
      {
        graph: 'inner',
        source: './src/agent.ts:graph',
        steps: [{ do: 'run', input: say('how is the weather?') }, { do: 'history' }],
      },
      {
        graph: 'remembering',
        source: './src/agent.ts:remembering',
        steps: [
          { do: 'run', input: say('how is the weather?') },
          { do: 'run', input: say('hello') },
          { do: 'history' },
        ],
      },
    ],
  },
  'agent-middleware': {
    usualLines: CURRENT_LINES,
    scenarios: [
      {
        graph: 'approval',
        source: './src/approval.ts:agent',
        steps: [
          { do: 'run', input: say('send it') },
          { do: 'state' },
          { do: 'restart' },
          { do: 'run', resume: { decisions: [{ type: 'approve' }] } },
          { do: 'state' },
          { do: 'wait', thread: 'b', input: say('send it') },
          { do: 'run', thread: 'b', resume: { decisions: [{ type: 'reject', message: 'not now' }] } },
          { do: 'run', thread: 'c', input: say('send it'), modes: ['updates'] },
          {
            ...{ do: 'run', thread: 'c' },
            resume: {
              decisions: [
                { type: 'edit', editedAction: { name: 'send_mail', args: { to: 'bob', text: 'hello' } } },
              ],
            },
          },
          { do: 'history', thread: 'c' },
        ],
      },
      {
        graph: 'summary',
        source: './src/summary.ts:agent',
        steps: [
          { do: 'run', input: say('apples') },
          { do: 'run', input: say('pears') },
          { do: 'run', input: say('plums') },
          { do: 'history' },
        ],
      },
      {
        graph: 'limited',
        source: './src/limited.ts:agent',
        steps: [
          { do: 'run', input: say('search for ever') },
          { do: 'run', input: say('and again') },
          { do: 'state' },
        ],
      },
      {
        graph: 'custom',
        source: './src/custom.ts:agent',
        steps: [
          { do: 'run', input: say('one') },
          { do: 'run', input: say('two'), context: { language: 'French' } },
          { do: 'state' },
          { do: 'wait', input: say('three') },
        ],
      },
    ],
  },
  'agent-structured': {
    scenarios: [
      {
        graph: 'contact',
        source: './src/contact.ts:agent',
        steps: [
          { do: 'run', input: say('Ada wants a card') },
          { do: 'state' },
          { do: 'wait', input: say('Bob wants a card') },
          { do: 'history' },
        ],
      },
    ],
  },
  'deep-agent': {
    scenarios: [
      {
        graph: 'researcher',
        source: './src/researcher.ts:agent',
        steps: [
          { do: 'run', input: say('bees'), subgraphs: true },
          { do: 'state' },
          { do: 'restart' },
          { do: 'run', input: say('ants') },
          { do: 'history' },
        ],
      },
      {
        graph: 'made',
        source: './src/researcher.ts:makeAgent',
        steps: [{ do: 'wait', input: say('bees') }, { do: 'state' }],
      },
    ],
  },
  supervisor: {
    scenarios: [
      {
        graph: 'team',
        source: './src/team.ts:app',
        steps: [
          { do: 'run', input: say('add 2 and 3'), subgraphs: true },
          { do: 'run', input: say('a poem') },
          { do: 'history' },
        ],
      },
    ],
  },
  swarm: {
    scenarios: [
      {
        graph: 'swarm',
        source: './src/swarm.js:workflow',
        steps: [
          { do: 'run', input: say('tell me of boats'), subgraphs: true },
          { do: 'run', input: say('more') },
          { do: 'restart' },
          { do: 'run', input: say('now apples') },
          { do: 'history' },
        ],
      },
    ],
  },
  'mcp-tools': {
    scenarios: [
      {
        graph: 'agent',
        source: './src/agent.ts:agent',
        steps: [{ do: 'run', input: say('Oslo') }, { do: 'state' }],
      },
    ],
  },
  nesting: {
    usualLines: CURRENT_LINES,
    scenarios: [
      {
        graph: 'deep',
        source: './src/deep.ts:graph',
        steps: [
          { do: 'run', input: { path: [] }, subgraphs: true },
          { do: 'state', subgraphs: true },
          { do: 'restart' },
          { do: 'run', resume: 'one', subgraphs: true },
          { do: 'state', subgraphs: true },
          { do: 'run', answers: ['two'] },
          { do: 'history' },
        ],
      },
      {
        graph: 'fan',
        source: './src/fan.ts:graph',
        steps: [
          { do: 'run', input: { items: ['a', 'b', 'c'] }, subgraphs: true, parallel: true },
          { do: 'state', subgraphs: true },
          { do: 'run', answers: ['yes', 'no', 'maybe'], subgraphs: true, parallel: true },
          { do: 'history' },
        ],
      },
      {
        graph: 'office',
        source: './src/office.ts:graph',
        steps: [
          { do: 'run', input: say('may we close?'), subgraphs: true },
          { do: 'state', subgraphs: true },
          { do: 'run', resume: 'yes', subgraphs: true },
          { do: 'run', resume: 'sure' },
          { do: 'history' },
        ],
      },
    ],
  },
  'agent-extras': {
    scenarios: [
      {
        graph: 'deep',
        source: './src/deep.ts:agent',
        steps: [
          { do: 'run', input: say('bees'), subgraphs: true, parallel: true },
          { do: 'state', subgraphs: true },
          { do: 'restart' },
          {
            ...{ do: 'run', subgraphs: true, parallel: true },
            answers: [{ decisions: [{ type: 'approve' }] }, { decisions: [{ type: 'reject' }] }],
          },
          { do: 'history' },
        ],
      },
      {
        graph: 'kit',
        source: './src/kit.ts:agent',
        steps: [
          { do: 'run', input: say('hello from ada@example.org') },
          { do: 'run', input: say('try the shaky one') },
          { do: 'run', input: say('rename me') },
          { do: 'run', input: say('who am I') },
          { do: 'run', input: say('confirm it') },
          { do: 'wait', resume: 'pleasure' },
          { do: 'history' },
        ],
      },
    ],
  },
};
