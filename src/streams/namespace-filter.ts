/**
 * Selects the frames of the namespaces that a reader named and of the graphs below them, except subagents that tool
 * calls start. S2 Frames keep their ids, so a reader resumes exactly with or without a filter.
 */
import type { FrameText } from '../store/port/payloads.ts';
import { namespaceKey, parseFrameName, startsWith, type Namespace } from '../protocol/event.ts';
import { isRunWide } from '../protocol/stream-modes.ts';
import { isBegunByTool } from '../protocol/subgraph-frames.ts';

/** The prebuilt agents name the node that executes tool calls `tools`. */
const TOOLS_SEGMENT = /^tools:/;

export interface NamespaceFilter {
  /** Stateful: call it for every frame in order. `lifecycle` frames mark the graphs that tool calls start. */
  wants(frame: FrameText): boolean;
}

/** `earlier` holds the `lifecycle` frames before the reader's resume id. */
export function openNamespaceFilter(
  wanted: readonly Namespace[],
  earlier: readonly FrameText[] = [],
): NamespaceFilter {
  const begunByTools = new Set<string>();

  const isSubagent = (namespace: Namespace): boolean =>
    TOOLS_SEGMENT.test(namespace.at(-1)!) || begunByTools.has(namespaceKey(namespace));

  const isWithin = (namespace: Namespace, prefix: Namespace): boolean =>
    startsWith(namespace, prefix) &&
    !namespace.some((_, index) => index >= prefix.length && isSubagent(namespace.slice(0, index + 1)));

  function wants(frame: FrameText): boolean {
    const { name, namespace } = parseFrameName(frame.event);
    if (isBegunByTool(frame)) begunByTools.add(namespaceKey(namespace));
    return isRunWide(name) || wanted.some((prefix) => isWithin(namespace, prefix));
  }

  earlier.forEach(wants);
  return { wants };
}

/** Parses the client form: segments joined by `|`, empty for the root graph. */
export const parseNamespace = (text: string): Namespace => (text === '' ? [] : text.split('|'));
