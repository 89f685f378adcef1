/** The picture of the graph: the active node, how often each node ran, and the edges that were taken. */
import { useMemo } from 'preact/hooks';
import { drawingOf } from '../api/server.ts';
import type { Drawing } from '../api/types.ts';
import { assistantOf } from '../model/actions.ts';
import type { Picture } from '../model/layout.ts';
import type { Moment } from '../model/moment.ts';
import type { OpenThread } from '../model/thread.ts';
import { useLoaded } from './load.tsx';

interface Props {
  readonly open: OpenThread;
  readonly moment: Moment;
}

export function GraphTab({ open, moment }: Props) {
  const assistant = assistantOf(open);
  const { value, problem } = useLoaded(assistant, () => pictureOf(assistant!));
  const walk = useMemo(() => walkOf(open), [open.story.arrivals.value, open.version.value]);
  if (assistant === undefined) return <p class="calm">No run of this thread tells which graph it uses.</p>;
  if (problem !== undefined) return <p class="calm">{problem}</p>;
  if (value === undefined) return <p class="calm">Drawing the graph …</p>;
  const next = new Set(moment.state.value?.next ?? []);
  return (
    <figure class="graph">
      <svg
        viewBox={`0 0 ${value.width} ${value.height}`}
        width={value.width}
        height={value.height}
        role="img"
        aria-label={`Graph of ${assistant}: ${value.nodes.map(({ label }) => label).join(', ')}`}
      >
        {value.edges.map((edge, at) => {
          const isTaken = walk.edges.has(`${edge.from} ${edge.to}`);
          const kind = `${edge.isConditional ? 'conditional' : ''} ${isTaken ? 'taken' : ''}`;
          return (
            <path
              key={at}
              d={edge.path}
              class={`edge ${kind}`}
              marker-end={`url(#${isTaken ? 'taken' : 'arrow'})`}
            />
          );
        })}
        {value.nodes.map(({ id, label, x, y, width, height }) => (
          <g key={id} class={`box ${walk.last.has(id) ? 'active' : ''} ${next.has(id) ? 'next' : ''}`}>
            <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={6} />
            <text x={x} y={y + 4} text-anchor="middle">
              {label}
            </text>
            {(walk.counts.get(id) ?? 0) > 0 && (
              <text x={x + width / 2 + 4} y={y + 4} class="count">
                ×{walk.counts.get(id)}
              </text>
            )}
          </g>
        ))}
        <defs>
          {['arrow', 'taken'].map((id) => (
            <marker
              key={id}
              id={id}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0,0L8,4L0,8z" class={id} />
            </marker>
          ))}
        </defs>
      </svg>
      <figcaption class="quiet">
        bold: ran last · dashed frame: next · ×n: how often it ran up to v {open.version.value}
      </figcaption>
    </figure>
  );
}

/** The layout comes in a file of its own, which is loaded with the first picture. */
async function pictureOf(assistant: string): Promise<Picture> {
  const [drawing, { place }]: [Drawing, typeof import('../model/layout.ts')] = await Promise.all([
    drawingOf(assistant),
    import('../model/layout.ts'),
  ]);
  return place(drawing);
}

/** Counts executed nodes and taken edges up to the version. A run that answers a question goes on where the one before it stopped. */
function walkOf({ story, version }: OpenThread) {
  const at = story.at(version.value);
  const counts = new Map<string, number>();
  const edges = new Set<string>();
  let last: readonly string[] = ['__start__'];
  const facts = [...story.loaded()]
    .filter(({ type, version: of }) => type === 'CheckpointSaved' && of <= version.value)
    .sort((a, b) => a.version - b.version);
  for (const { nodes = [], checkpoint_ns: ns, source } of facts) {
    if (ns !== '') continue;
    if (source === 'input') last = ['__start__'];
    if (nodes.length === 0 || nodes[0] === '__start__') continue;
    for (const node of nodes) {
      counts.set(node, (counts.get(node) ?? 0) + 1);
      for (const before of last) edges.add(`${before} ${node}`);
    }
    last = nodes;
  }
  if (at?.type === 'RunCompleted' && at.outcome === 'success' && at.next?.length === 0)
    for (const before of last) edges.add(`${before} __end__`);
  return { counts, edges, last: new Set(last) };
}
