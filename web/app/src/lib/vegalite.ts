// A stored chart is a Vega-Lite document that names its rows instead of holding them. The page
// reads of it what is drawn and draws it itself: no expression of a document is ever run.

import type { Json } from "../../../types/events";
import { chooseChart, type Chart, type ChartKind } from "./chart";
import type { Result } from "./result";
import { encodingOf, marks } from "./vegaexport";

/** A ChartDocument is what the page takes of a stored chart. */
export interface ChartDocument {
  title: string;
  result: string; // the id of the artifact with the rows
  name: string; // of the result in its thread
  kind: string;
  x: string;
  y: string[];
  series: string;
  unit: string;
}

const isObject = (v: Json | undefined): v is Record<string, Json> => typeof v === "object" && v !== null && !Array.isArray(v);
const text = (v: Json | undefined) => (typeof v === "string" ? v : "");

/** chartDocument reads a document; undefined where it is no chart of a stored result. */
export function chartDocument(value: Json | undefined): ChartDocument | undefined {
  const about = isObject(value) && isObject(value.usermeta) ? value.usermeta.interlock : undefined;
  if (!isObject(value) || !isObject(about) || !isObject(about.chart)) return undefined;
  const result = text(about.result_id);
  if (!/^art_[0-9a-f]+(@\d+)?$/.test(result)) return undefined; // rows come from here or from nowhere
  const { kind, x, y, series, title, unit } = about.chart;
  return { title: text(title) || text(value.title), result, name: text(about.result), kind: text(kind), x: text(x), y: Array.isArray(y) ? y.map(text).filter(Boolean) : [], series: text(series), unit: text(unit) };
}

// drawnAs are the charts of the page for the kinds of documents, and back.
const drawnAs: Record<string, ChartKind> = { bar: "columns", stacked_bar: "stacked", line: "line", area: "area", point: "scatter", pie: "pie", histogram: "columns" };
const storedAs: Record<ChartKind, string> = { columns: "bar", bars: "bar", stacked: "stacked_bar", line: "line", area: "area", pie: "pie", scatter: "point", number: "bar" };

/** chartOf draws a document of its rows; undefined where the page has no chart for them. */
export function chartOf(doc: ChartDocument, rows: Result, wanted?: ChartKind): { chart: Chart; result: Result } | undefined {
  const result = doc.kind === "histogram" ? counted(doc, rows) : pickColumns(rows, [doc.x, ...(doc.series ? [doc.series] : []), ...doc.y]);
  if (!result) return undefined;
  const chart = chooseChart(result, wanted ?? drawnAs[doc.kind]);
  return chart && chart.kind !== "number" ? { chart, result } : undefined;
}

// pickColumns leaves the columns that a document names, in its order.
function pickColumns(rows: Result, names: string[]): Result | undefined {
  const at = names.map((n) => rows.columns.findIndex((c) => c.name === n));
  if (at.includes(-1) || at.length < 2) return undefined;
  return { ...rows, columns: at.map((i) => rows.columns[i]), rows: rows.rows.map((r) => at.map((i) => r[i])) };
}

const mostBins = 20;

// counted counts the values of a column in bins of one width.
function counted(doc: ChartDocument, rows: Result): Result | undefined {
  const at = rows.columns.findIndex((c) => c.name === doc.x);
  const values = rows.rows.map((r) => r[at]).filter((v) => v !== null && v !== undefined && v !== "").map(Number).filter(Number.isFinite);
  if (at < 0 || !values.length) return undefined;
  const low = values.reduce((a, b) => Math.min(a, b));
  const width = (values.reduce((a, b) => Math.max(a, b)) - low) / mostBins || 1;
  const bins = new Array<number>(mostBins).fill(0);
  for (const v of values) bins[Math.min(mostBins - 1, Math.floor((v - low) / width))]++;
  const write = (n: number) => n.toLocaleString(undefined, { maximumFractionDigits: 2 });
  return { columns: [{ name: doc.x, type: "VARCHAR" }, { name: "number of rows", type: "BIGINT" }], rows: bins.map((n, i) => [`from ${write(low + i * width)}`, n]), total: mostBins, limited: false };
}

// without leaves out how a channel was stacked.
const without = ({ stack: _, ...rest }: Record<string, Json>) => rest;

/** restyled is the document with another kind and title; its rows stay named. */
export function restyled(document: Json, kind: ChartKind | undefined, title: string): Json {
  const copy = structuredClone(document) as Record<string, Json>;
  copy.title = title;
  const about = (copy.usermeta as { interlock: { chart: Record<string, Json> } }).interlock.chart;
  about.title = title;
  if (kind) {
    const now = typeof about.kind === "string" ? drawnAs[about.kind] : undefined;
    about.kind = storedAs[kind];
    copy.mark = { type: marks[kind], tooltip: true, ...(kind === "line" && { point: true }) };
    const encoding = isObject(copy.encoding) ? (copy.encoding as Record<string, Record<string, Json>>) : {};
    const lying = encoding.y?.type !== "quantitative" && encoding.x?.type === "quantitative";
    const along = now === "pie" ? encoding.color : lying ? encoding.y : encoding.x;
    const value = now === "pie" ? encoding.theta : lying ? encoding.x : encoding.y;
    if (along && value) copy.encoding = encodingOf(kind, { along: without(along), value: without(value), group: now === "pie" ? undefined : encoding.color }) as Json;
  }
  return copy;
}
