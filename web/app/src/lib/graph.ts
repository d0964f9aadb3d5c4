// The declared graph of a machine, laid out in layers: the question, the states that a turn begins in,
// then those that are reached on the way.

import type { MachineView } from "../api/schema";
import type { Move } from "./thread.svelte";

/** start is the id of the node before all states: the question. */
export const start = "\u0000start";

export interface Node {
  id: string;
  x: number; // of its middle
  y: number;
  width: number;
  height: number;
}

/** An Edge of the drawing; steps are the numbers of the moves that took it. */
export interface Edge {
  from: string;
  to: string;
  points: Point[];
  steps: number[];
  blocked: boolean;
}

export interface Point {
  x: number;
  y: number;
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
  /** Moves from every state: said in a sentence, never drawn. */
  everywhere: { to: string; on: string[] }[];
}

/** What is drawn beside the path. */
export interface Drawn {
  /** Also moves that were not taken. */
  all: boolean;
  /** States that a guard kept the machine from, by the state that it was in. */
  blocked: { from: string; to: string }[];
}

const margin = 16;
const lane = 7; // between two lines side by side
const mostPlain = 14; // edges not taken that are drawn beside the path; more would be a hairball

/**
 * layoutMachine places the layers from left to right where there is room, else from top to
 * bottom if that is narrower.
 */
export function layoutMachine(machine: MachineView, path: Move[], drawn: Drawn, room: number): Graph {
  const narrow = room < 520;
  const node = narrow ? { width: 132, height: 40, first: 30, gap: 26 } : { width: 172, height: 44, first: 92, gap: 46 };
  const states = (machine.states ?? []).map((s) => s.name);
  const layers = layersOf(states, declaredEdges(machine).edges);
  // A state is as wide as the longest name wants, where there is room.
  const spare = (room - 2 * margin - 2 * lane - node.first) / (layers.length - 1) - node.gap;
  const along = Math.max(node.width, Math.min(Math.floor(spare), Math.max(0, ...states.map(nameWidth))));
  const across = layoutLayers(machine, path, drawn, { along, aside: node.height, first: node.first, gap: node.gap, between: 18 });
  if (across.width <= room) return across;
  const widest = Math.max(...layers.map((l) => l.length));
  const aside = Math.max(104, Math.min(node.width, Math.floor((room - 2 * margin - 2 * lane) / widest) - 14));
  const down = turned(layoutLayers(machine, path, drawn, { along: node.height, aside, first: node.height, gap: 34, between: 14 }));
  return down.width < across.width ? down : across;
}

/** letter is about how wide a letter of a name is. */
const letter = 7.3;
const nameWidth = (state: string) => Math.ceil(state.length * letter) + 24;

/** fitting cuts a text that is wider than a state. */
export const fitting = (text: string, width: number) => (text.length * letter > width - 20 ? text.slice(0, Math.floor((width - 20) / letter) - 1) + "…" : text);

// turned swaps the two directions of a layout.
const turned = (g: Graph): Graph => ({ ...g, width: g.height, height: g.width, nodes: g.nodes.map((n) => ({ ...n, x: n.y, y: n.x, width: n.height, height: n.width })), edges: g.edges.map((e) => ({ ...e, points: e.points.map(({ x, y }) => ({ x: y, y: x })) })) });

interface Sizes {
  along: number; // of a node, in the direction of the layers
  aside: number;
  first: number; // of the question, in the direction of the layers
  gap: number;
  between: number;
}

const edgeKey = (from: string, to: string) => `${from}\u0001${to}`;

/** declaredEdges are the moves between two states of a machine, and those from every state. */
function declaredEdges(machine: MachineView): { edges: [string, string][]; everywhere: Graph["everywhere"] } {
  const edges = new Map<string, [string, string]>();
  const everywhere: Graph["everywhere"] = [];
  const moves = machine.moves ?? [];
  for (const m of moves) {
    if (m.any) everywhere.push(...(m.to ?? []).map((to) => ({ to, on: m.on ?? [] })));
    else for (const from of m.from?.length ? m.from : [start]) for (const to of m.to ?? []) edges.set(edgeKey(from, to), [from, to]);
  }
  const [first] = machine.states ?? [];
  if (first && !moves.some((m) => !m.any && !m.from?.length)) edges.set(edgeKey(start, first.name), [start, first.name]);
  return { edges: [...edges.values()], everywhere };
}

// layersOf gives each state the fewest moves that lead to it from the question.
function layersOf(states: string[], edges: [string, string][]): string[][] {
  const layers: string[][] = [[start]];
  const left = new Set(states);
  while (left.size) {
    const here = new Set(layers.at(-1));
    let next = [...left].filter((s) => edges.some(([from, to]) => to === s && here.has(from)));
    if (!next.length) next = [...left]; // reached from every state alone
    for (const s of next) left.delete(s);
    layers.push(next);
  }
  return layers;
}

function layoutLayers(machine: MachineView, path: Move[], drawn: Drawn, size: Sizes): Graph {
  const { edges: declared, everywhere } = declaredEdges(machine);
  const layers = layersOf((machine.states ?? []).map((s) => s.name), declared);
  const taken = new Map<string, number[]>();
  path.forEach((move, i) => {
    const key = edgeKey(move.entered.from || start, move.entered.to);
    taken.set(key, [...(taken.get(key) ?? []), i + 1]);
  });
  const rows = placeRows(layers, declared, path);
  const step = size.aside + size.between;
  const most = Math.max(...layers.flat().map((s) => rows.get(s)!));
  const nodes = new Map<string, Node & { layer: number }>();
  let x = margin;
  layers.forEach((layer, n) => {
    const along = n === 0 ? size.first : size.along;
    for (const id of layer) nodes.set(id, { id, layer: n, x: x + along / 2, y: margin + size.aside / 2 + rows.get(id)! * step, width: along, height: size.aside });
    x += along + size.gap;
  });
  const width = x - size.gap + margin + 2 * lane;

  const plainFew = declared.length - taken.size <= mostPlain;
  const blocked = new Set(drawn.blocked.map((b) => edgeKey(b.from || start, b.to)).filter((k) => !taken.has(k)));
  const wanted = new Map<string, [string, string]>();
  for (const [from, to] of declared) if (drawn.all || plainFew || from === start) wanted.set(edgeKey(from, to), [from, to]);
  for (const key of [...taken.keys(), ...blocked]) wanted.set(key, key.split("\u0001") as [string, string]);
  const edges: Edge[] = [];
  const lanes = new Map<number, number>(); // how many lines a gap holds already
  for (const [key, [from, to]] of wanted) {
    const [a, b] = [nodes.get(from), nodes.get(to)];
    if (!a || !b || a === b) continue;
    edges.push({ from, to, points: route(a, b, size, lanes), steps: taken.get(key) ?? [], blocked: blocked.has(key) });
  }
  return { nodes: [...nodes.values()], edges, width, height: 2 * margin + (most + 1) * step - size.between, everywhere };
}

// placeRows puts the states of a layer beside those that lead to them; states of the path come first to their place.
function placeRows(layers: string[][], edges: [string, string][], path: Move[]): Map<string, number> {
  const rows = new Map<string, number>();
  const visited = new Set(path.map((m) => m.entered.to));
  layers.forEach((layer, n) => {
    if (n === 0) return;
    const before = (s: string) => edges.filter(([from, to]) => to === s && rows.has(from) && from !== start).map(([from]) => from);
    const ideal = (s: string) => {
      const list = before(s);
      const weighed = list.some((f) => visited.has(f)) && visited.has(s) ? list.filter((f) => visited.has(f)) : list;
      return weighed.length ? weighed.reduce((sum, f) => sum + rows.get(f)!, 0) / weighed.length : layer.indexOf(s);
    };
    const order = n === 1 ? layer : layer.toSorted((a, b) => ideal(a) - ideal(b));
    let next = 0;
    const placed = order.map((s) => {
      const row = n === 1 ? next : Math.max(next, Math.round(ideal(s)));
      next = row + 1;
      return row;
    });
    const room = Math.max(...layers.map((l) => l.length));
    const shift = Math.max(0, Math.max(...placed) + 1 - room); // back where there is room, so that nothing grows
    order.forEach((s, i) => rows.set(s, Math.max(i, placed[i] - shift)));
  });
  const starts = layers[1]?.map((s) => rows.get(s)!) ?? [0];
  rows.set(start, (Math.min(...starts) + Math.max(...starts)) / 2);
  return rows;
}

// route leads a line through the gaps between layers, so that it crosses no state.
function route(a: Node & { layer: number }, b: Node & { layer: number }, size: Sizes, lanes: Map<number, number>): Point[] {
  const channel = (layer: number, x: number) => {
    const n = lanes.get(layer) ?? 0;
    lanes.set(layer, n + 1);
    const places = Math.max(1, Math.floor((size.gap - 16) / lane));
    return x + 8 + ((n * 3) % places) * lane;
  };
  const end = (n: Node) => n.x + n.width / 2;
  const begin = (n: Node) => n.x - n.width / 2;
  // Lines to the same state keep apart where they meet it.
  if (b.layer === a.layer + 1) {
    const x = a.id === start ? end(a) + (size.gap * 2) / 5 : channel(a.layer, end(a));
    return a.y === b.y ? [{ x: end(a), y: a.y }, { x: begin(b), y: b.y }] : [{ x: end(a), y: a.y }, { x, y: a.y }, { x, y: b.y }, { x: begin(b), y: b.y }];
  }
  if (b.layer === a.layer) {
    const x = channel(a.layer, end(a));
    return [{ x: end(a), y: a.y + 8 }, { x, y: a.y + 8 }, { x, y: b.y - 8 }, { x: end(b), y: b.y - 8 }];
  }
  if (b.layer === a.layer - 1) {
    const x = channel(b.layer, end(b));
    return [{ x: begin(a), y: a.y + 8 }, { x, y: a.y + 8 }, { x, y: b.y + 8 }, { x: end(b), y: b.y + 8 }];
  }
  // Over other layers, between two rows.
  const forward = b.layer > a.layer;
  const [from, to] = forward ? [end(a), begin(b)] : [begin(a), end(b)];
  const x = forward ? channel(a.layer, end(a)) : begin(a) - 8;
  const y = b.y + (a.y < b.y ? -1 : 1) * (size.aside / 2 + size.between / 2);
  const far = forward ? begin(b) - 10 : end(b) + 10;
  return [{ x: from, y: a.y }, { x, y: a.y }, { x, y }, { x: far, y }, { x: far, y: b.y }, { x: to, y: b.y }];
}

const corner = 8;

/** pathOf draws a line with rounded corners. */
export function pathOf(points: Point[]): string {
  const [first, ...rest] = points;
  let d = `M${first.x},${first.y}`;
  let at = first;
  rest.forEach((p, i) => {
    const next = rest[i + 1];
    if (!next) {
      d += `L${p.x},${p.y}`;
      return;
    }
    const toward = (from: Point, to: Point, r: number) => {
      const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
      return `${from.x + ((to.x - from.x) * r) / length},${from.y + ((to.y - from.y) * r) / length}`;
    };
    const r = Math.min(corner, Math.hypot(p.x - at.x, p.y - at.y) / 2, Math.hypot(next.x - p.x, next.y - p.y) / 2);
    d += `L${toward(p, at, r)}Q${p.x},${p.y} ${toward(p, next, r)}`;
    at = p;
  });
  return d;
}

/** barOf is where a blocked line ends: a bar across it, before the state. */
export function barOf(points: Point[]): string {
  const [b, a] = [points.at(-1)!, points.at(-2)!];
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [dx, dy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const [x, y] = [b.x - dx * 6, b.y - dy * 6];
  return `M${x - dy * 8},${y + dx * 8}L${x + dy * 8},${y - dx * 8}`;
}
