/** Places of nodes and edges in the picture of a graph. */
import { graphlib, layout } from '@dagrejs/dagre';
import type { Drawing } from '../api/types.ts';

interface PlacedNode {
  readonly id: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  readonly isConditional: boolean;
  readonly label: string;
  readonly path: string;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

const CHARACTER_PX = 7.4;
const NODE_HEIGHT_PX = 30;

export function place({ nodes, edges }: Drawing): Picture {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 34, marginx: 26, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) {
    const label = labelOf(id);
    graph.setNode(id, {
      label,
      width: Math.max(56, label.length * CHARACTER_PX + 24),
      height: NODE_HEIGHT_PX,
    });
  }
  edges.forEach(({ source, target }, at) => graph.setEdge(source, target, {}, String(at)));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: nodes.map(({ id }) => {
      const at = graph.node(id) as PlacedNode;
      return { id, label: labelOf(id), x: at.x, y: at.y, width: at.width, height: at.height };
    }),
    edges: edges.map(({ source, target, conditional = false, data }, at) => {
      const { points } = graph.edge(source, target, String(at)) as { points: { x: number; y: number }[] };
      return {
        from: source,
        to: target,
        isConditional: conditional,
        label: data ?? '',
        path: pathOf(points),
      };
    }),
  };
}

const labelOf = (id: string): string => (id === '__start__' ? 'start' : id === '__end__' ? 'end' : id);

/** A smooth curve through the points. */
function pathOf(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${first.x},${first.y}`;
  rest.forEach((point, at) => {
    const next = rest[at + 1];
    const end = next === undefined ? point : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    path += `Q${point.x},${point.y} ${end.x},${end.y}`;
  });
  return path;
}
