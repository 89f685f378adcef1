/**
 * Pauses of a re-executed run before nodes: to stop there, to hand over to a debugger, or to take a node's writes from the
 * log instead of running it. A pause is a static breakpoint of the run; the run continues from its own last checkpoint.
 */
import type { PendingWrite, RunEnd, RunOrder } from '../../graphs/port.ts';
import type { Json } from '../../kernel/json.ts';
import type { InProcessGraphs } from '../../graphs/in-process.ts';
import type { RunTrace, RunWrite } from '../trace.ts';
import type { ScratchLink } from './scratch-link.ts';

export interface Pauses {
  /** Stops before this node. */
  readonly before?: string | undefined;
  /** Called at the stop; the run goes on when it returns true. */
  readonly onPause: () => boolean;
}

export interface PausedRun {
  readonly graphs: InProcessGraphs;
  readonly order: RunOrder;
  readonly scratch: ScratchLink;
  readonly signal: AbortSignal;
  /** The recorded run's trace. */
  readonly trace: RunTrace;
  readonly stubs: readonly string[];
  readonly pauses: Pauses;
}

export interface PausedEnd {
  readonly end: RunEnd;
  /** The run was left at its pause. */
  readonly isPaused: boolean;
}

export async function continueBehind(paused: PausedRun): Promise<PausedEnd> {
  const { graphs, order, scratch, signal, stubs, pauses } = paused;
  const nodes = [...new Set([...stubs, ...(pauses.before === undefined ? [] : [pauses.before])])];
  if (nodes.length === 0) return { end: await graphs.run(order, scratch.link, signal), isPaused: false };
  const breakpoints = { interruptBefore: nodes };
  let end = await graphs.run({ ...order, ...breakpoints }, scratch.link, signal);
  while (end.kind === 'success' && end.next.some((node) => nodes.includes(node))) {
    if (pauses.before !== undefined && end.next.includes(pauses.before) && !pauses.onPause())
      return { end, isPaused: true };
    const stubbed = await stub(
      paused,
      end.next.filter((node) => stubs.includes(node)),
    );
    const { command: _, ...rest } = order;
    end = await graphs.run({ ...rest, ...breakpoints, input: null, resume: true }, scratch.link, signal);
    if (stubbed === 0 && pauses.before === undefined) break;
  }
  return { end, isPaused: false };
}

/** Writes what the nodes wrote in the recorded run; returns the number of tasks. */
async function stub({ graphs, order, scratch, trace }: PausedRun, nodes: readonly string[]): Promise<number> {
  if (nodes.length === 0) return 0;
  const { checkpoints } = scratch.link;
  const state = await graphs.state(
    { graphId: order.graphId, threadId: order.threadId, subgraphs: false, config: order.config },
    checkpoints,
  );
  const head = await checkpoints.load('');
  if (head === undefined) return 0;
  const step = head.metadata['step'];
  const recorded = trace.checkpoints.find(({ ns, metadata }) => ns === '' && metadata['step'] === step);
  let count = 0;
  for (const { id, name, path } of state.tasks) {
    if (!nodes.includes(name)) continue;
    const own = trace.writes.filter(
      (write) => write.checkpointId === recorded?.checkpointId && write.ns === '' && isOf(write, path),
    );
    if (own.length === 0)
      throw new Error(`--stub: the log has no writes of ${name} in step ${Number(step) + 1}`);
    const writes = own.map(({ ns: _, checkpointId: __, ...write }): PendingWrite => ({
      ...write,
      taskId: id,
    }));
    await checkpoints.saveWrites('', head.checkpointId, writes);
    count += 1;
  }
  return count;
}

/** The library formats a task's path as `~`, then its parts, numbers with ten digits. */
const isOf = ({ taskPath = '' }: RunWrite, path: readonly Json[]): boolean => {
  const [kind, place] = path;
  const part = typeof place === 'number' ? String(place).padStart(10, '0') : String(place);
  return `${taskPath}, `.startsWith(`~${String(kind)}, ${part}, `);
};
