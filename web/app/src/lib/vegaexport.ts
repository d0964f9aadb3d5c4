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

// ownFields are those that the document itself adds.
const ownFields = ["series", "value"];

// fieldsOf names the fields of the columns: as the columns, unless Vega-Lite would take a name
// for a path or for a text in quotes, or two columns would have one field.
function fieldsOf(columns: Column[]): string[] {
  const names = columns.map((c) => c.name);
  return names.map((name, i) => (/[.[\]\\'"]/.test(name) || name.startsWith("column ") || ownFields.includes(name) || names.indexOf(name) < i ? `column ${i + 1}` : name));
}

/** vegaLite writes a chart as a Vega-Lite document with its rows. */
export function vegaLite(chart: Chart, result: Result): object {
  const { columns } = result;
  const fields = fieldsOf(columns);
  const several = chart.column.length > 1;
  const [measure] = chart.column;
  const time = chart.along >= 0 && isTime(columns[chart.along]);
  const along = { field: fields[chart.along], title: chart.xName, type: time && (chart.kind === "line" || chart.kind === "area") ? "temporal" : time ? "ordinal" : chart.x ? "quantitative" : "nominal", ...(!time && !chart.x && { sort: null }) };
  const value = { field: several ? "value" : fields[measure], type: "quantitative", title: several ? undefined : heading(columns[measure].name) };
  const group = chart.group !== undefined ? { field: fields[chart.group], type: "nominal", title: heading(columns[chart.group].name) } : several ? { field: "series", type: "nominal", title: undefined } : undefined;
  const rows = chart.cells ? chart.cells.flat().flatMap((c) => (c ? [c.row] : [])) : chart.row;
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: { values: rows.map((i) => Object.fromEntries(fields.map((f, n) => [f, result.rows[i][n] ?? null]))) },
    ...(several && { transform: folded(chart, columns, fields) }),
    mark: { type: marks[chart.kind], tooltip: true },
    encoding: encodingOf(chart.kind, { along, value, group }),
  };
}

// folded makes a series of each measure, under the name that the page shows.
function folded(chart: Chart, columns: Column[], fields: string[]): object[] {
  const renamed = chart.column.filter((i) => fields[i] !== heading(columns[i].name));
  return [
    { fold: chart.column.map((i) => fields[i]), as: ownFields },
    ...renamed.map((i) => ({ calculate: `datum.series === ${JSON.stringify(fields[i])} ? ${JSON.stringify(heading(columns[i].name))} : datum.series`, as: "series" })),
  ];
}
