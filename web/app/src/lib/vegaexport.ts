// A chart as a Vega-Lite document that holds its rows, for other programs.

import type { Chart, ChartKind } from "./chart";
import { isTime, type Column } from "./column";
import type { Result } from "./result";
import { heading } from "./words";

/** marks are what Vega-Lite calls the charts of the page. */
export const marks: Record<ChartKind, string> = { columns: "bar", stacked: "bar", bars: "bar", line: "line", area: "area", pie: "arc", scatter: "point", number: "text" };

interface Fields {
  along: object;
  value: object;
  /** What tells the series apart, if there are several. */
  group?: object;
}

/** encodingOf places the fields of a chart. */
export function encodingOf(kind: ChartKind, { along, value, group }: Fields): object {
  switch (kind) {
    case "pie": return { theta: { ...value, stack: true }, color: along };
    case "bars": return { y: along, x: value, ...(group && { color: group }) };
    case "columns": return { x: along, y: { ...value, ...(group && { stack: null }) }, ...(group && { xOffset: group, color: group }) };
    case "stacked": case "area": return { x: along, y: { ...value, stack: "zero" }, ...(group && { color: group }) };
    default: return { x: along, y: value, ...(group && { color: group }) };
  }
}

/** vegaLite writes a chart as a Vega-Lite document with its rows. */
export function vegaLite(chart: Chart, result: Result): object {
  const [measure, ...more] = chart.column.map((i) => result.columns[i].name);
  const x: Column | undefined = result.columns.find((c) => heading(c.name) === chart.xName);
  const time = x && isTime(x);
  const along = { field: x?.name, title: chart.xName, type: time && (chart.kind === "line" || chart.kind === "area") ? "temporal" : time ? "ordinal" : chart.x ? "quantitative" : "nominal", ...(!time && !chart.x && { sort: null }) };
  const value = { field: more.length ? "value" : measure, type: "quantitative", title: more.length ? undefined : heading(measure) };
  const name = chart.group === undefined ? (more.length ? "key" : undefined) : result.columns[chart.group].name;
  const rows = chart.cells ? chart.cells.flat().flatMap((c) => (c ? [c.row] : [])) : chart.row;
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: { values: rows.map((i) => Object.fromEntries(result.columns.map((c, n) => [c.name, result.rows[i][n] ?? null]))) },
    ...(more.length && { transform: [{ fold: [measure, ...more] }] }),
    mark: { type: marks[chart.kind], tooltip: true },
    encoding: encodingOf(chart.kind, { along, value, group: name ? { field: name, type: "nominal" } : undefined }),
  };
}
