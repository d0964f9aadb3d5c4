// Figures in an answer, bound to the cells of the result that they come from.

import type { Figure } from "../../../types/events";
import { isEmpty, isNumber, timeWriter, type Column } from "./column";
import type { Result } from "./result";

/** A Cell of a result, by row and column. */
export interface Cell {
  row: number;
  column: number;
}

/** A Piece of a text: plain, or a figure with its origin or the cells that hold it. */
export interface Piece {
  text: string;
  cells?: Cell[];
  figure?: Figure;
  /** It stands where no button may be. */
  bare?: boolean;
}

/**
 * markFigures splits texts at the figures whose origin the server traced. The figures are in
 * the order of the texts; one that is not found there is left out.
 */
export function markFigures(texts: string[], figures: Figure[], cells: (figure: Figure) => Cell[]): Piece[][] {
  const out = texts.map((): Piece[] => []);
  let at = 0; // the text, and the place in it, from which the next figure is looked for
  let from = 0;
  for (const figure of figures) {
    const found = find(texts, at, from, figure.text);
    if (!found) continue;
    if (found.at > at) from = 0;
    at = found.at;
    if (found.from > from) out[at].push({ text: texts[at].slice(from, found.from) });
    const bound = cells(figure);
    out[at].push({ text: figure.text, figure, ...(bound.length && { cells: bound }) });
    from = found.from + figure.text.length;
  }
  return out.map((pieces, i) => {
    const done = pieces.reduce((n, p) => n + p.text.length, 0);
    return done < texts[i].length ? [...pieces, { text: texts[i].slice(done) }] : pieces;
  });
}

// find looks for a figure from a place on, as a number of its own.
function find(texts: string[], at: number, from: number, text: string) {
  for (let i = at; i < texts.length; i++, from = 0) {
    for (let n = texts[i].indexOf(text, from); n >= 0; n = texts[i].indexOf(text, n + 1)) {
      if (!/[\p{L}\p{N}]/u.test(texts[i][n - 1] ?? " ") && !/\p{N}/u.test(texts[i][n + text.length] ?? " ")) return { at: i, from: n };
    }
  }
  return undefined;
}

// isOf says whether a table is the result of a call.
const isOf = (table: string, call: string) => table === call || (table.startsWith(call) && !/^\w/.test(table.slice(call.length)));

/** comesFrom says whether a figure has cells in the result of a call. */
export const comesFrom = (figure: Figure, call: string) => (figure.cells ?? []).some((c) => isOf(c.table, call));

/** tracedCells are the cells of a figure that lie in the result of a call. */
export function tracedCells(figure: Figure, call: string, result: Result): Cell[] {
  return (figure.cells ?? []).flatMap((c) => {
    const column = result.columns.findIndex((d) => d.name === c.column);
    return isOf(c.table, call) && column >= 0 && c.row < result.rows.length ? [{ row: c.row, column }] : [];
  });
}

/** originOf says where a figure comes from; "" for one that the question named. */
export function originOf(figure: Figure): string {
  const cell = figure.cells?.[0];
  const place = cell ? `column ${cell.column}${figure.cells!.length === 1 ? `, row ${cell.row + 1}` : ""}` : (figure.source ?? "");
  const from = [figure.formula, place].filter(Boolean).join(" of ");
  switch (figure.support) {
    case "cell": return `From the result: ${from}`;
    case "formula": return `Computed: ${from}`;
    case "document": return `From the document ${figure.source ?? ""}`.trim();
    case "statement": return "A condition of the query";
    case "size": return `The size of the result: ${from}`;
    case "mixed": return `Computed with ${(figure.factors ?? []).join(", ")}, a number of the statement or the code, from the result: ${from}`;
    case "stated": return "A constant that the statement or the code put into its result: no data supports it";
    case "contradicted": return `The words beside it say "${figure.denies ?? ""}", which the values deny: ${from}`;
    case "weak": return `This figure may fit a value of the results by chance${from ? ": " + from : ""}`;
    case "none": return "No origin was found for this figure in the results of this thread";
    default: return "";
  }
}

const figure = /-?−?\d[\d,]*(?:\.\d+)?(?:\s?%)?/g;

/**
 * bindFigures splits a text at its figures. A figure is bound to the cells whose value it
 * is, at the figure's own precision; years and figures that no cell holds stay text.
 */
export function bindFigures(text: string, result: Result | undefined): Piece[] {
  if (!result) return [{ text }];
  const numeric = result.columns.map((c, i) => isNumber(c, result.rows.map((r) => r[i])));
  const out: Piece[] = [];
  let at = 0;
  for (const m of text.matchAll(figure)) {
    const cells = cellsOf(m[0], result, numeric);
    if (!cells.length) continue;
    if (m.index > at) out.push({ text: text.slice(at, m.index) });
    out.push({ text: m[0], cells });
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push({ text: text.slice(at) });
  return out;
}

const mostRows = 2000; // beyond these a figure could stand anywhere

function cellsOf(written: string, result: Result, numeric: boolean[]): Cell[] {
  const plain = written.replaceAll(",", "").replace("−", "-").replace(/\s?%$/, "");
  if (/^\d{4}$/.test(plain) && !written.includes(",")) return []; // a year, in most sentences
  const value = Number(plain);
  const digits = plain.split(".")[1]?.length ?? 0;
  if (!Number.isFinite(value)) return [];
  const found: Cell[] = [];
  for (let row = 0; row < Math.min(result.rows.length, mostRows) && found.length < 4; row++) {
    for (let column = 0; column < numeric.length; column++) {
      const cell = result.rows[row][column];
      if (!numeric[column] || isEmpty(cell)) continue;
      if (Number(cell).toFixed(digits) === value.toFixed(digits)) found.push({ row, column });
    }
  }
  return found;
}

/** describeCell says where a cell is: "Dec 2025, total refund amount". */
export function describeCell(cell: Cell, result: Result, heading: (column: Column) => string): string {
  const label = result.columns.findIndex((c, i) => i !== cell.column && /^(VARCHAR|DATE|TIMESTAMP)/.test(c.type));
  const value = label < 0 ? undefined : result.rows[cell.row][label];
  const name = isEmpty(value) ? `row ${cell.row + 1}` : result.columns[label].type === "VARCHAR" ? String(value) : timeWriter("day")(value);
  return `${name}, ${heading(result.columns[cell.column])}`;
}
