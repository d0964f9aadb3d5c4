// Which chart suits a result, and the numbers that it draws.

import { grain, isEmpty, isMeasure, isNumber, isTime, timeWriter, writer, type Column } from "./column";
import type { Result } from "./result";
import { heading } from "./words";

export type ChartKind = "columns" | "line" | "bars" | "scatter" | "number";

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
  series: Series[];
  /** row gives the row of the result behind each label. */
  row: number[];
  column: number[];
  others: number;
}

const mostColumns = 24;
const mostBars = 12;
const mostSeries = 5;
const mostCategories = 50;

/** chooseChart picks a chart from the shape of a result; undefined where a table says it best. */
export function chooseChart(result: Result, wanted?: ChartKind): Chart | undefined {
  const { columns, rows } = result;
  if (!rows.length || result.limited) return undefined;
  const valuesOf = (i: number) => rows.map((r) => r[i]);
  const measures = columns.map((_, i) => i).filter((i) => isMeasure(columns[i], valuesOf(i)));
  if (!measures.length) return undefined;
  const axis = columns.findIndex((c) => isTime(c));
  if (rows.length === 1) return columns.length === 1 ? { kind: "number", kinds: ["number"], labels: [""], xName: "", series: series(result, measures), row: [0], column: measures, others: 0 } : undefined;
  if (axis >= 0) return timeChart(result, axis, measures, wanted);
  const category = columns.findIndex((c, i) => !measures.includes(i) && !isNumber(c, valuesOf(i)));
  if (category >= 0) return categoryChart(result, category, measures, wanted);
  if (measures.length >= 2) return scatterChart(result, measures[0], measures[1]);
  return undefined;
}

const series = (result: Result, measures: number[], order = result.rows.map((_, i) => i)): Series[] =>
  measures.slice(0, mostSeries).map((m) => ({ name: heading(result.columns[m].name), values: order.map((i) => toNumber(result.rows[i][m])) }));

const toNumber = (v: unknown) => (isEmpty(v) ? null : Number(v));

function timeChart(result: Result, axis: number, measures: number[], wanted?: ChartKind): Chart | undefined {
  const { columns, rows } = result;
  const times = rows.map((r) => r[axis]);
  if (new Set(times.map(String)).size < rows.length) return undefined; // several rows a time: groups, which a table shows
  const order = rows.map((_, i) => i).sort((a, b) => String(times[a]).localeCompare(String(times[b])));
  const fitting = comparable(result, measures);
  const kind = wanted ?? (rows.length <= mostColumns && fitting.length === 1 ? "columns" : "line");
  const write = timeWriter(grain(columns[axis], times));
  return { kind, kinds: ["columns", "line"], labels: order.map((i) => (isEmpty(times[i]) ? "empty" : write(times[i]))), xName: heading(columns[axis].name), series: series(result, fitting, order), row: order, column: fitting, others: 0 };
}

// comparable keeps the measures of about the size of the first: others would be flat lines.
function comparable(result: Result, measures: number[]): number[] {
  const size = (m: number) => Math.max(...result.rows.map((r) => Math.abs(Number(r[m] ?? 0))));
  const first = size(measures[0]);
  return measures.filter((m, i) => i < mostSeries && (i === 0 || (size(m) >= first / 20 && size(m) <= first * 20)));
}

function categoryChart(result: Result, category: number, measures: number[], wanted?: ChartKind): Chart | undefined {
  const { columns, rows } = result;
  const names = rows.map((r) => r[category]);
  if (rows.length > mostCategories || new Set(names.map(String)).size < rows.length) return undefined;
  const [measure] = measures;
  const order = rows.map((_, i) => i).sort((a, b) => Number(rows[b][measure] ?? 0) - Number(rows[a][measure] ?? 0)).slice(0, mostBars);
  const write = writer(columns[category], names);
  const labels = order.map((i) => (isEmpty(names[i]) ? "empty" : write(names[i])));
  const long = labels.some((l) => l.length > 10);
  const kind = wanted ?? (rows.length >= 8 || long ? "bars" : "columns");
  return { kind, kinds: ["bars", "columns"], labels, xName: heading(columns[category].name), series: series(result, [measure], order), row: order, column: [measure], others: rows.length - order.length };
}

function scatterChart(result: Result, x: number, y: number): Chart {
  const order = result.rows.map((_, i) => i).filter((i) => !isEmpty(result.rows[i][x]) && !isEmpty(result.rows[i][y]));
  return { kind: "scatter", kinds: ["scatter"], labels: order.map(String), x: order.map((i) => Number(result.rows[i][x])), xName: heading(result.columns[x].name), series: series(result, [y], order), row: order, column: [y], others: 0 };
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

/** vegaLite writes a chart as a Vega-Lite document with its rows. */
export function vegaLite(chart: Chart, result: Result): object {
  const [measure, ...more] = chart.column.map((i) => result.columns[i].name);
  const x: Column | undefined = result.columns.find((c) => heading(c.name) === chart.xName);
  const quantitative = { field: measure, type: "quantitative", title: chart.series[0]?.name };
  const along = { field: x?.name, title: chart.xName, type: x && isTime(x) ? "temporal" : chart.x ? "quantitative" : "nominal", ...(x && !isTime(x) && !chart.x && { sort: null }) };
  const mark = { columns: "bar", bars: "bar", line: "line", scatter: "point", number: "text" }[chart.kind];
  const encoding = chart.kind === "bars" ? { y: along, x: quantitative } : { x: along, y: quantitative };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: { values: chart.row.map((i) => Object.fromEntries(result.columns.map((c, n) => [c.name, result.rows[i][n] ?? null]))) },
    ...(more.length ? { transform: [{ fold: [measure, ...more] }], mark, encoding: { x: along, y: { field: "value", type: "quantitative" }, color: { field: "key", type: "nominal" } } } : { mark, encoding }),
  };
}
