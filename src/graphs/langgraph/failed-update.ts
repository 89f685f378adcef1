/** Finds the channel that could not be updated after a step, and the nodes whose writes it got. */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { stackOf } from '../../kernel/stack.ts';
import { placeOfFunction } from '../function-place.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import { ERROR } from '../state-port.ts';
import type { TaskWrites } from './saver-contract.ts';
import { subgraphAt } from './structure.ts';

export interface FailedUpdate {
  /** Nodes from the root graph to the subgraph of the channel. */
  readonly around: readonly string[];
  readonly nodes: readonly string[];
  readonly channel: string;
}

/** The runtime's message for a channel that takes no such update, as of two nodes in one step. */
const REFUSED = /^Invalid update for channel "(.+?)" with values /s;
/** The frame of a reducer, above that of its channel. */
const REDUCED =
  /^ +at (?:.*\()?(file:\/\/.+?|\/.+?):(\d+):(\d+)\)?\n +at (?:BinaryOperatorAggregate|DeltaChannel)\.update /m;

/** `recent`: tasks of the failed step are the last that wrote. Undefined for failures of another kind. */
export function locateUpdate(
  root: CompiledGraph,
  error: unknown,
  recent: readonly TaskWrites[],
): FailedUpdate | undefined {
  const [, refused] = REFUSED.exec(String(Object(error).message)) ?? [];
  const writing = recent.filter(({ channels }) => channels.some((channel) => channel !== ERROR));
  const last = writing.at(-1);
  if (last === undefined) return undefined;
  const step = writing.filter(({ ns, checkpointId }) => ns === last.ns && checkpointId === last.checkpointId);
  // A conditional edge reads the state with the writes of its own task, which then fails.
  const failed = step.filter(({ channels }) => channels.includes(ERROR));
  const tasks = failed.length > 0 ? failed : step;
  const around = last.ns === '' ? [] : nodePathOf(last.ns).split('|');
  const graph = subgraphAt(root, around);
  const written = new Set(tasks.flatMap(({ channels }) => channels));
  const channel = refused ?? (graph && reducedChannel(graph, error, [...written]));
  if (channel === undefined) return undefined;
  const nodes = new Set(tasks.filter(({ channels }) => channels.includes(channel)).map(({ node }) => node));
  return { around, nodes: [...nodes], channel };
}

/** The channel whose reducer failed: of several, the one whose reducer begins closest above the frame. */
function reducedChannel(
  { channels = {} }: CompiledGraph,
  error: unknown,
  names: readonly string[],
): string | undefined {
  const [, file, line, column] = REDUCED.exec(stackOf(error) ?? '') ?? [];
  if (file === undefined) return undefined;
  const reducers = names.flatMap((name) => {
    const { operator, reducer = operator } = Object(channels[name]) as Reducing;
    return typeof reducer === 'function' ? [{ name, reducer }] : [];
  });
  if (reducers.length < 2) return reducers[0]?.name;
  const at = Number(line) * LINE + Number(column);
  return reducers
    .flatMap(({ name, reducer }) => {
      const place = placeOfFunction(reducer);
      const start = place && place.line * LINE + place.column;
      return start !== undefined && file.endsWith(place!.file) && start <= at ? [{ name, start }] : [];
    })
    .sort((a, b) => b.start - a.start)[0]?.name;
}

interface Reducing {
  readonly operator?: unknown;
  readonly reducer?: unknown;
}

/** More columns than a line has. */
const LINE = 1e6;
