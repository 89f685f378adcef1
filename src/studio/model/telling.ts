/** Words for facts: one row of the story each. */
import type { Fact } from '../api/facts.ts';
import { count, oneLine } from './words.ts';

type Tone = 'plain' | 'quiet' | 'good' | 'bad' | 'ask' | 'warn' | 'run';

export interface Told {
  readonly label: string;
  readonly detail: string;
  readonly tone: Tone;
}

/** LangGraph's internal node that distributes the input. */
const START_NODE = '__start__';

export const questionsIn = (fact: Fact) => Object.values(fact.interrupts ?? {}).flat();

export const isFailure = ({ outcome }: Fact): boolean => outcome === 'error' || outcome === 'timeout';

export const isCrash = ({ type, lost }: Fact): boolean => type === 'RunRequeued' && lost === true;

export const isQuestion = (fact: Fact): boolean => fact.outcome === 'success' && questionsIn(fact).length > 0;

/** Facts that only keep the books: `j` and `k` pass over them. */
export const isQuiet = ({ type }: Fact): boolean =>
  type === 'RunStarted' || type === 'RunBegun' || type === 'ThreadUpdated';

export function tell(fact: Fact): Told {
  const { type, reason = '', erased } = fact;
  if (erased === true && type !== 'RunCreated')
    return { label: 'deleted', detail: 'its content is gone', tone: 'quiet' };
  switch (type) {
    case 'RunCreated':
      return { label: 'run', detail: fact.graph_id ?? '', tone: 'run' };
    case 'RunStarted':
      return { label: `attempt ${attemptOf(fact)}`, detail: 'starts', tone: 'quiet' };
    case 'RunBegun':
      return { label: `attempt ${attemptOf(fact)}`, detail: 'graph code begins', tone: 'quiet' };
    case 'RunRequeued':
      return {
        label: `attempt ${attemptOf(fact)}`,
        detail: `${isCrash(fact) ? 'lost' : 'handed back'}: ${reason}`,
        tone: 'warn',
      };
    case 'RunCancelRequested':
      return { label: 'stop', detail: reason, tone: 'warn' };
    case 'CheckpointSaved':
      return { label: stepLabel(fact), detail: '', tone: 'plain' };
    case 'StateUpdated':
      return { label: 'state edited', detail: '', tone: 'plain' };
    case 'RunCompleted':
      return tellEnd(fact);
    case 'RunDeleted':
      return { label: 'run deleted', detail: '', tone: 'quiet' };
    case 'ThreadCreated':
      return { label: 'thread created', detail: '', tone: 'quiet' };
    case 'ThreadCopied':
      return { label: 'thread copied', detail: '', tone: 'quiet' };
    case 'ThreadImported':
      return { label: 'thread imported', detail: '', tone: 'quiet' };
    case 'ThreadUpdated':
      return { label: 'metadata changed', detail: '', tone: 'quiet' };
    case 'ThreadPruned':
      return { label: 'thread pruned', detail: '', tone: 'quiet' };
    default:
      return { label: type, detail: '', tone: 'quiet' };
  }
}

function tellEnd(fact: Fact): Told {
  const { outcome, error, next = [], reason = error?.message ?? '' } = fact;
  const questions = questionsIn(fact);
  switch (outcome) {
    case 'success':
      if (questions.length > 0)
        return {
          label: questions.length === 1 ? 'asks' : `asks ${questions.length} questions`,
          detail: oneLine(questions[0]!.value),
          tone: 'ask',
        };
      return next.length > 0
        ? { label: 'pauses', detail: `before ${next.join(', ')}`, tone: 'ask' }
        : { label: 'success', detail: '', tone: 'good' };
    case 'error':
      return { label: error?.error ?? 'Error', detail: error?.message ?? '', tone: 'bad' };
    case 'timeout':
      return { label: 'timeout', detail: error?.message ?? '', tone: 'bad' };
    case 'cancelled':
      return { label: 'stopped', detail: reason, tone: 'warn' };
    case 'rolled-back':
      return { label: 'rolled back', detail: reason, tone: 'warn' };
    default:
      return { label: 'end', detail: '', tone: 'plain' };
  }
}

function stepLabel({ nodes = [], checkpoint_ns: ns, source, step }: Fact): string {
  const path = subgraphOf(ns);
  const own = nodes.filter((node) => node !== START_NODE);
  const counted = [...Map.groupBy(own, (node) => node)].map(([node, all]) =>
    all.length === 1 ? node : `${node} ×${all.length}`,
  );
  const name =
    counted.length > 0
      ? counted.join(', ')
      : nodes.length > 0
        ? 'start'
        : source === 'loop'
          ? `step ${step ?? ''}`
          : (source ?? 'state');
  return path === '' ? name : `${path} › ${name}`;
}

/** A step of the root graph, which changes the values of the thread. */
export const isRootStep = ({ type, checkpoint_ns: ns }: Fact): boolean =>
  (type === 'CheckpointSaved' && ns === '') || type === 'StateUpdated';

/** Names of the nodes around a subgraph: `agent:6f3a…|tools:…` is `agent › tools`. */
const subgraphOf = (ns = ''): string =>
  ns === ''
    ? ''
    : ns
        .split('|')
        .map((segment) => segment.split(':')[0])
        .join(' › ');

const attemptOf = ({ attempt = 1 }: Fact): string => String(attempt);

/** The sum of a run in its heading. */
export const tokensText = (fact: Pick<Fact, 'usage'>): string =>
  fact.usage === undefined ? '' : `${count(fact.usage.input_tokens + fact.usage.output_tokens)} tok`;
