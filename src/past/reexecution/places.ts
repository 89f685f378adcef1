/** Names the places in a run that task keys stand for. */
import { LOADING, type RequestDifference } from '../../recording/player.ts';
import type { Difference } from '../compare/difference.ts';

export function stepOfTask(task: string): Pick<Difference, 'step' | 'node'> {
  const [step, node = ''] = task.split(' ');
  return task === '' ? {} : { step: Number(step), node };
}

export const placeOfTask = (task: string): string => {
  const [step, node] = task.split(' ');
  if (task === LOADING) return 'the graph, while it loads';
  return task === '' ? 'the run, outside of its nodes' : `node ${node}, step ${step}`;
};

/** A module of the recorded worker had the answer from another run. */
export const answeredBefore = ({ task, found }: RequestDifference): string =>
  `a request (${found.method} ${found.url}) in ${placeOfTask(task)} was answered before this run`;
