// The declared graph of a machine, laid out in layers.

import { graphlib, layout } from "@dagrejs/dagre";
import type { MachineView } from "../api/schema";
import type { Move } from "./thread.svelte";

/** start is the id of the node before all states: the question. */
export const start = "\u0000start";

export interface Node {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** An Edge of the drawing. step is the number of the move that took it, 0 for none. */
export interface Edge {
  from: string;
  to: string;
  points: { x: number; y: number }[];
  steps: number[];
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
  /** Moves from every state: said in a sentence, never drawn. */
  everywhere: { to: string; on: string[] }[];
}

const nodeSize = { width: 178, height: 44 };
const mostPlain = 14; // edges not taken that are drawn beside the path; more would be a hairball

/**
 * layoutMachine places the states from left to right, or from top to bottom where that
 * would be wider than there is room; all draws also moves that were not taken.
 */
export function layoutMachine(machine: MachineView, path: Move[], all: boolean, room: number): Graph {
  const across = layoutAlong("LR", machine, path, all);
  return across.width <= room ? across : layoutAlong("TB", machine, path, all);
}

function layoutAlong(rankdir: "LR" | "TB", machine: MachineView, path: Move[], all: boolean): Graph {
  const taken = new Map<string, number[]>();
  path.forEach((move, i) => {
    const key = edgeKey(move.entered.from || start, move.entered.to);
    taken.set(key, [...(taken.get(key) ?? []), i + 1]);
  });
  const declared = new Set<string>();
  const everywhere: Graph["everywhere"] = [];
  const starts = (machine.moves ?? []).filter((m) => !m.any && !m.from?.length);
  for (const m of machine.moves ?? []) {
    if (m.any) everywhere.push(...(m.to ?? []).map((to) => ({ to, on: m.on ?? [] })));
    else for (const from of m.from?.length ? m.from : [start]) for (const to of m.to ?? []) declared.add(edgeKey(from, to));
  }
  const states = machine.states ?? [];
  if (!starts.length && states.length) declared.add(edgeKey(start, states[0].name));

  const g = new graphlib.Graph();
  g.setGraph({ rankdir, nodesep: 18, ranksep: rankdir === "LR" ? 44 : 30, marginx: 12, marginy: 16 });
  g.setDefaultEdgeLabel(() => ({}));
  g.setNode(start, { width: 92, height: 40 });
  for (const s of states) g.setNode(s.name, { ...nodeSize });
  // The declared moves decide the ranks, those that were taken weigh more: the path is straight.
  for (const key of declared) {
    const [from, to] = key.split("\u0001");
    if (from !== to && g.hasNode(from) && g.hasNode(to)) g.setEdge(from, to, { weight: taken.has(key) ? 8 : 1 });
  }
  for (const key of taken.keys()) {
    const [from, to] = key.split("\u0001");
    if (from !== to && g.hasNode(from) && g.hasNode(to) && !g.hasEdge(from, to)) g.setEdge(from, to, { weight: 4 });
  }
  layout(g);
  const plainFew = declared.size - taken.size <= mostPlain;
  const edges = g.edges().map((e): Edge => ({ from: e.v, to: e.w, points: g.edge(e).points, steps: taken.get(edgeKey(e.v, e.w)) ?? [] }));
  return {
    nodes: g.nodes().map((id) => ({ id, ...(g.node(id) as Omit<Node, "id">) })),
    edges: edges.filter((e) => e.steps.length || all || plainFew || e.from === start),
    width: g.graph().width ?? 400, height: g.graph().height ?? 200, everywhere,
  };
}

const edgeKey = (from: string, to: string) => `${from}\u0001${to}`;

/** pathOf draws an edge as lines with rounded corners. */
export function pathOf(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  let d = `M${first.x},${first.y}`;
  rest.forEach((p, i) => {
    const next = rest[i + 1];
    if (!next) {
      d += `L${p.x},${p.y}`;
      return;
    }
    d += `Q${p.x},${p.y} ${(p.x + next.x) / 2},${(p.y + next.y) / 2}`;
  });
  return d;
}
