/**
 * Which frames of a run a reader wants that named namespaces: those of the graphs there and of graphs within, but for the
 * subagents that tool calls begin. Ids stay those of the whole run, so every reader resumes exactly, with and without
 * (S2).
 */
import type { FrameText } from '../log/payloads.ts';
import { namespaceKey, parseFrameName, startsWith, type Namespace } from '../protocol/event.ts';
import { isBegunByTool, LIFECYCLE } from '../protocol/subgraph-frames.ts';

/** Frames that concern the whole run. */
const OF_RUN: ReadonlySet<string> = new Set(['metadata', 'error', LIFECYCLE]);
/** Agents call the node so that carries out tool calls. */
const TOOLS = /^tools:/;

export interface NamespaceFilter {
  /** Has to be asked about each frame, in order: frames of the mode `lifecycle` tell what tool calls begin. */
  wants(frame: FrameText): boolean;
}

/** `earlier`: frames of the mode `lifecycle` that the reader has behind it. */
export function openNamespaceFilter(
  wanted: readonly Namespace[],
  earlier: readonly FrameText[] = [],
): NamespaceFilter {
  const begunByTools = new Set<string>();

  const isSubagent = (namespace: Namespace): boolean =>
    TOOLS.test(namespace.at(-1)!) || begunByTools.has(namespaceKey(namespace));

  const isWithin = (namespace: Namespace, prefix: Namespace): boolean =>
    startsWith(namespace, prefix) &&
    !namespace.some((_, index) => index >= prefix.length && isSubagent(namespace.slice(0, index + 1)));

  function wants(frame: FrameText): boolean {
    const { mode, namespace } = parseFrameName(frame.event);
    if (isBegunByTool(frame)) begunByTools.add(namespaceKey(namespace));
    return OF_RUN.has(mode) || wanted.some((prefix) => isWithin(namespace, prefix));
  }

  earlier.forEach(wants);
  return { wants };
}

/** As clients name it: segments between bars, nothing for the run's own graph. */
export const parseNamespace = (text: string): Namespace => (text === '' ? [] : text.split('|'));
