// Which chart suits a result, and the numbers that it draws.

import { grain, isEmpty, isMeasure, isNumber, isTime, timeWriter, writer } from "./column";
import type { Cell } from "./figures";
import type { Result } from "./result";
import { heading } from "./words";

export type ChartKind = "columns" | "stacked" | "line" | "area" | "bars" | "pie" | "scatter" | "number";

/** kindNames are what a person calls the charts. */
export const kindNames: Record<ChartKind, string> = { columns: "Columns", stacked: "Stacked columns", line: "Line", area: "Area", bars: "Bars", pie: "Pie", scatter: "Points", number: "Number" };

/** A Series is one measure along the labels of a chart. */
export interface Series {
  name: string;
  values: (number | null)[];
}

/** A Chart is what is drawn. x has numbers of a scatter, labels otherwise. */
export interface Chart {
  kind: ChartKind;
  kinds: ChartKind[];
  labels: string[];
  x?: number[];
  xName: string;
  /** The column of the result that the labels or x are of; -1 where there is none. */
  along: number;
  series: Series[];
  /** row gives the row of the result behind each label. */
  row: number[];
  column: number[];
  /** cells are those behind each value of each series, where rows of the result are its groups. */
  cells?: (Cell | undefined)[][];
  /** The column whose values are the series, where there is one. */
  group?: number;
  others: number;
  /** How many groups are not drawn: the smallest, where there are too many to tell apart. */
  hidden?: number;
  /** The sum of the others, where a whole is shared. */
  rest?: number;
}

const mostColumns = 24;
const mostBars = 12;
const mostSeries = 5;
const mostGroups = 60; // of which the largest are drawn
const mostCategories = 50;
const mostSlices = 7;

/** chooseChart picks a chart from the shape of a result; undefined where a table says it best. */
export function chooseChart(result: Result, wanted?: ChartKind): Chart | undefined {
  const chart = suitable(result);
  return chart && wanted && chart.kinds.includes(wanted) ? { ...chart, kind: wanted } : chart;
}

function suitable(result: Result): Chart | undefined {
  const { columns, rows } = result;
  if (!rows.length || result.limited) return undefined;
  const valuesOf = (i: number) => rows.map((r) => r[i]);
  const measures = columns.map((_, i) => i).filter((i) => isMeasure(columns[i], valuesOf(i)));
  if (!measures.length) return undefined;
  if (rows.length === 1) return columns.length === 1 ? { kind: "number", kinds: ["number"], labels: [""], xName: "", along: -1, series: series(result, measures), row: [0], column: measures, others: 0 } : undefined;
  const axis = columns.findIndex((c, i) => isTime(c) || isPeriods(valuesOf(i)));
  const names = columns.map((_, i) => i).filter((i) => !measures.includes(i) && i !== axis && !isNumber(columns[i], valuesOf(i)));
  const along = axis >= 0 ? axis : names[0];
  if (along === undefined) return measures.length >= 2 ? scatterChart(result, measures[0], measures[1]) : undefined;
  const repeats = new Set(valuesOf(along).map(String)).size < rows.length;
  if (repeats) return groupedChart(result, along, axis >= 0 ? names : names.slice(1), measures);
  return axis >= 0 ? timeChart(result, axis, measures) : categoryChart(result, along, measures);
}

// isPeriods says whether texts name years, quarters, months or days: 2025-03, 2025-Q1.
const isPeriods = (values: unknown[]) => values.every((v) => typeof v === "string" && /^\d{4}-(\d\d(-\d\d)?|Q[1-4]|W\d\d)$/.test(v));

const series = (result: Result, measures: number[], order = result.rows.map((_, i) => i)): Series[] =>
  measures.slice(0, mostSeries).map((m) => ({ name: heading(result.columns[m].name), values: order.map((i) => toNumber(result.rows[i][m])) }));

const toNumber = (v: unknown) => (isEmpty(v) ? null : Number(v));
const noneBelowZero = (list: Series[]) => list.every((s) => s.values.every((v) => v === null || v >= 0));

// labelsOf writes the values of a column as names along an axis.
function labelsOf(result: Result, column: number, order: number[]): string[] {
  const values = result.rows.map((r) => r[column]);
  const write = isTime(result.columns[column]) ? timeWriter(grain(result.columns[column], values)) : writer(result.columns[column], values);
  return order.map((i) => (isEmpty(values[i]) ? "empty" : write(values[i])));
}

// inTime orders rows by the time in a column.
const inTime = (result: Result, axis: number, rows: number[]) => rows.toSorted((a, b) => String(result.rows[a][axis]).localeCompare(String(result.rows[b][axis])));

function timeChart(result: Result, axis: number, measures: number[]): Chart {
  const { columns, rows } = result;
  const order = inTime(result, axis, rows.map((_, i) => i));
  const fitting = comparable(result, measures);
  const drawn = series(result, fitting, order);
  const kinds: ChartKind[] = ["columns", "line"];
  if (noneBelowZero(drawn)) kinds.push("area", ...(drawn.length > 1 ? ["stacked" as const] : []));
  return { kind: rows.length <= mostColumns && fitting.length === 1 ? "columns" : "line", kinds, labels: labelsOf(result, axis, order), xName: heading(columns[axis].name), along: axis, series: drawn, row: order, column: fitting, others: 0 };
}

// comparable keeps the measures of about the size of the first: others would be flat lines.
function comparable(result: Result, measures: number[]): number[] {
  const size = (m: number) => Math.max(...result.rows.map((r) => Math.abs(Number(r[m] ?? 0))));
  const first = size(measures[0]);
  return measures.filter((m, i) => i < mostSeries && (i === 0 || (size(m) >= first / 20 && size(m) <= first * 20)));
}

function categoryChart(result: Result, category: number, measures: number[]): Chart | undefined {
  const { columns, rows } = result;
  if (rows.length > mostCategories) return undefined;
  const [measure] = measures;
  const order = rows.map((_, i) => i).sort((a, b) => Number(rows[b][measure] ?? 0) - Number(rows[a][measure] ?? 0)).slice(0, mostBars);
  const labels = labelsOf(result, category, order);
  const all = series(result, comparable(result, measures), order);
  const several = all.length > 1 && noneBelowZero(all);
  const kinds: ChartKind[] = ["bars", "columns"];
  if (several) kinds.push("stacked");
  else if (noneBelowZero(series(result, [measure]))) kinds.push("pie");
  const kind = rows.length >= 8 || labels.some((l) => l.length > 10) ? "bars" : "columns";
  const fitting = several ? comparable(result, measures) : [measure];
  return { kind: several ? "columns" : kind, kinds, labels, xName: heading(columns[category].name), along: category, series: several ? all : all.slice(0, 1), row: order, column: fitting, others: rows.length - order.length, rest: rows.filter((_, i) => !order.includes(i)).reduce((sum, r) => sum + Number(r[measure] ?? 0), 0) };
}

// groupedChart draws a series for each value of a second column with names.
function groupedChart(result: Result, along: number, names: number[], measures: number[]): Chart | undefined {
  const { columns, rows } = result;
  if (names.length !== 1 || measures.length !== 1) return undefined;
  const [group] = names;
  const [measure] = measures;
  const timed = isTime(columns[along]) || isPeriods(rows.map((r) => r[along]));
  const at = new Map(rows.map((r, i) => [`${String(r[along])}\u0000${String(r[group])}`, i]));
  const all = [...new Map(rows.map((r, i) => [String(r[group]), i])).values()].sort((a, b) => a - b);
  const sizes = new Map<string, number>();
  for (const r of rows) sizes.set(String(r[group]), (sizes.get(String(r[group])) ?? 0) + Math.abs(Number(r[measure] ?? 0)));
  const sizeOf = (row: number) => sizes.get(String(rows[row][group]))!;
  const groups = all.length > mostSeries ? all.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, mostSeries) : all;
  const firsts = [...new Map(rows.map((r, i) => [String(r[along]), i]).reverse() as [string, number][]).values()].sort((a, b) => a - b);
  if (at.size < rows.length || groups.length < 2 || all.length > mostGroups || firsts.length > (timed ? 400 : mostBars)) return undefined;
  const order = timed ? inTime(result, along, firsts) : firsts;
  const cells = groups.map((g) => order.map((i) => {
    const row = at.get(`${String(rows[i][along])}\u0000${String(rows[g][group])}`);
    return row === undefined ? undefined : { row, column: measure };
  }));
  const drawn = cells.map((list, n) => ({ name: labelsOf(result, group, [groups[n]])[0], values: list.map((c) => (c ? toNumber(rows[c.row][measure]) : null)) }));
  const hidden = all.length - groups.length;
  const whole = noneBelowZero(drawn) && !hidden; // parts of a whole are all of them
  const kinds: ChartKind[] = timed ? ["line", ...(whole ? ["area" as const, "stacked" as const] : []), "columns"] : ["columns", ...(whole ? ["stacked" as const] : [])];
  return { kind: kinds[0], kinds, labels: labelsOf(result, along, order), xName: heading(columns[along].name), along, series: drawn, row: order, column: [measure], cells, group, others: 0, hidden };
}

function scatterChart(result: Result, x: number, y: number): Chart {
  const order = result.rows.map((_, i) => i).filter((i) => !isEmpty(result.rows[i][x]) && !isEmpty(result.rows[i][y]));
  return { kind: "scatter", kinds: ["scatter"], labels: order.map(String), x: order.map((i) => Number(result.rows[i][x])), xName: heading(result.columns[x].name), along: x, series: series(result, [y], order), row: order, column: [y], others: 0 };
}

/** ticks gives round numbers from a low to a high end, about so many. */
export function ticks(low: number, high: number, about = 5): number[] {
  if (low === high) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough)!;
  const out: number[] = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return out;
}

/** shortNumber writes numbers of an axis: 10k, 1.2M. */
export function shortNumber(v: number): string {
  const [size, unit] = ([[1e9, "B"], [1e6, "M"], [1e3, "k"]] as [number, string][]).find(([s]) => Math.abs(v) >= s) ?? [1, ""];
  return new Intl.NumberFormat(undefined, { maximumFractionDigits: Math.abs(v) < 1 ? 3 : 1 }).format(v / size).replace(/^-/, "−") + unit;
}

/** A Part of a stack, from one value to another; undefined where there is none. */
export type StackPart = { from: number; to: number } | undefined;

/** stack puts the values of each label on top of each other: by series, then by label. */
export function stack(list: Series[]): StackPart[][] {
  const tops = new Map<number, number>();
  return list.map((s) => s.values.map((v, i) => {
    if (v === null) return undefined;
    const from = tops.get(i) ?? 0;
    tops.set(i, from + v);
    return { from, to: from + v };
  }));
}

/** A Slice of a pie: its share of the whole, and where it begins and ends, in parts of a round. */
export interface Slice {
  label: string;
  value: number;
  from: number;
  to: number;
  /** The place of its label in the chart; -1 for all others. */
  at: number;
}

/** slices are the shares of a chart's first series; the smallest are one slice. */
export function slices(chart: Chart): Slice[] {
  const values = chart.series[0].values.map((v) => v ?? 0);
  const few = values.length + (chart.others ? 1 : 0) <= mostSlices;
  const shown = few ? values.length : mostSlices - 1;
  const hidden = values.length - shown + chart.others;
  const rest = values.slice(shown).reduce((a, b) => a + b, chart.rest ?? 0);
  const list = [...values.slice(0, shown).map((value, at) => ({ label: chart.labels[at], value, at })), ...(hidden ? [{ label: `${hidden} others`, value: rest, at: -1 }] : [])];
  const whole = list.reduce((sum, s) => sum + s.value, 0) || 1;
  let done = 0;
  return list.map((s) => {
    const from = done / whole;
    done += s.value;
    return { ...s, from, to: done / whole };
  });
}
