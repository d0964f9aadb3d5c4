// Figures in an answer, bound to the cells of the result that they come from.

import { isEmpty, isNumber, timeWriter, type Column } from "./column";
import type { Result } from "./result";

/** A Cell of a result, by row and column. */
export interface Cell {
  row: number;
  column: number;
}

/** A Piece of a text: plain, or a figure with the cells that hold it. */
export interface Piece {
  text: string;
  cells?: Cell[];
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
