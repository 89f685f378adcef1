import type { GraphState } from '../port.ts';

/** The same state with its values, and those of the states within it, in another form: from a worker they come as text. */
export function withValues<A, B>(state: GraphState<A>, to: (values: A) => B): GraphState<B> {
  const tasks = state.tasks.map((task) => ({ ...task, state: task.state && withValues(task.state, to) }));
  return { ...state, values: to(state.values), tasks };
}
