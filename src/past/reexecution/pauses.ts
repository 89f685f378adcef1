/**
 * Pauses of a re-executed run before nodes: to stop there, or to take a node's writes from the log instead of running it. A
 * pause is a static breakpoint of the run; the run continues from its own last checkpoint. A debugger needs none: it stops in
 * the node's function.
 */
import type { PendingWrite, RunEnd, RunOrder } from '../../graphs/port.ts';
import type { Json } from '../../kernel/json.ts';
import type { InProcessGraphs } from '../../graphs/in-process.ts';
import type { RunTrace, RunWrite } from '../trace.ts';
import type { OnNodes } from '../../graphs/node-functions.ts';
import { WrongOption } from './wrong-option.ts';
import type { ScratchLink } from './scratch-link.ts';

export interface Pauses {
  /** Stops before this node. */
  readonly before?: string | undefined;
  /** Gets the node's function instead: a debugger stops in it, and the run goes on. */
  readonly breakOn?: ((fn: unknown) => void) | undefined;
}

export interface NodeWatch {
  readonly onNodes: OnNodes;
  /** The run was stopped before a plain function. */
  isStopped(): boolean;
  /** Call it after the run. Throws a `WrongOption` for nodes that the graph does not have. */
  check(): void;
}

/** Sees the nodes of the graph before they are called. */
export function watchNodes(stubs: readonly string[], { before, breakOn }: Pauses): NodeWatch {
  let nodes: readonly string[] = [];
  let isStopped = false;
  const check = (): void => {
    const wanted = [...stubs, ...(before === undefined ? [] : [before])];
    const unknown = wanted.find((name) => !nodes.includes(name));
    const list = nodes.join(', ');
    if (unknown !== undefined)
      throw new WrongOption(
        `${unknown === before ? '--break' : '--stub'}: expected a node (${list}), found "${unknown}"`,
      );
    const inner = wanted.find((name) => name.includes('|') && (name !== before || breakOn === undefined));
    if (inner !== undefined)
      throw new WrongOption(`${inner}: a node of a subgraph is stopped at with --break and --inspect alone`);
  };
  return {
    onNodes(functions, isGraph) {
      nodes = Object.keys(functions);
      if (isGraph) check();
      if (before === undefined || functions[before] === undefined) return;
      breakOn?.(functions[before]);
      isStopped = breakOn === undefined && !isGraph;
      if (isStopped) throw new Error(`stopped before ${before}`);
    },
    isStopped: () => isStopped,
    // A run that failed before its graph was made has no nodes.
    check: () => nodes.length > 0 && check(),
  };
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
  const before = pauses.breakOn === undefined ? pauses.before : undefined;
  const nodes = [...new Set([...stubs, ...(before === undefined ? [] : [before])])];
  if (nodes.length === 0) return { end: await graphs.run(order, scratch.link, signal), isPaused: false };
  const breakpoints = { interruptBefore: nodes };
  let end = await graphs.run({ ...order, ...breakpoints }, scratch.link, signal);
  while (end.kind === 'success' && end.next.some((node) => nodes.includes(node))) {
    if (before !== undefined && end.next.includes(before)) return { end, isPaused: true };
    const stubbed = await stub(
      paused,
      end.next.filter((node) => stubs.includes(node)),
    );
    const { command: _, ...rest } = order;
    end = await graphs.run({ ...rest, ...breakpoints, input: null, resume: true }, scratch.link, signal);
    if (stubbed === 0) break;
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
