import { expect, test } from "vitest";
import type { Json } from "../../../types/events";
import { chooseChart, slices, stack } from "./chart";
import { diffWords } from "./diff";
import { bindFigures } from "./figures";
import { readings, type Plan } from "./plan";
import { changesOf, columnsOf, withFilter } from "./replan";
import { tableOf } from "./result";
import { summary } from "./summary";
import { vegaLite } from "./vegaexport";
import { heading } from "./words";

const refunds = tableOf({ columns: ["month", "sum_refund_amount"], column_types: ["TIMESTAMP", "DECIMAL(38,2)"], rows: [["2025-11-01 00:00:00", 29092.65], ["2025-12-01 00:00:00", 41225.43]], row_count: 2 })!;

test("a figure is bound to its cell, and a year is not one", () => {
  const pieces = bindFigures("In 2025 it was 41,225 in December, not 99.", refunds);
  expect(pieces.filter((p) => p.cells)).toEqual([{ text: "41,225", cells: [{ row: 1, column: 1 }] }]);
  expect(pieces.map((p) => p.text).join("")).toBe("In 2025 it was 41,225 in December, not 99.");
});

test("the chart is chosen from the shape of the result", () => {
  expect(chooseChart(refunds)).toMatchObject({ kind: "columns", kinds: ["columns", "line", "area"], labels: ["Nov 2025", "Dec 2025"] });
  const bars = tableOf({ columns: ["city", "orders"], column_types: ["VARCHAR", "BIGINT"], rows: [["A long name of a city", 1], ["Bern", 5]] })!;
  expect(chooseChart(bars)).toMatchObject({ kind: "bars", kinds: ["bars", "columns", "pie"], labels: ["Bern", "A long name of a city"] });
  expect(chooseChart(bars, "line")).toMatchObject({ kind: "bars" });
  const ids = tableOf({ columns: ["customer_id", "name"], column_types: ["BIGINT", "VARCHAR"], rows: [[1, "a"], [2, "b"]] })!;
  expect(chooseChart(ids)).toBeUndefined();
});

const split = tableOf({ columns: ["month", "city", "orders"], column_types: ["DATE", "VARCHAR", "BIGINT"], rows: [["2025-02-01", "Bern", 5], ["2025-01-01", "Bern", 3], ["2025-01-01", "Chur", 4]] })!;

test("groups along a time are series, which are stacked on each other", () => {
  const chart = chooseChart(split, "stacked")!;
  expect(chart).toMatchObject({ kind: "stacked", labels: ["Jan 2025", "Feb 2025"], series: [{ name: "Bern", values: [3, 5] }, { name: "Chur", values: [4, null] }] });
  expect(chart.cells).toEqual([[{ row: 1, column: 2 }, { row: 0, column: 2 }], [{ row: 2, column: 2 }, undefined]]);
  expect(stack(chart.series)).toEqual([[{ from: 0, to: 3 }, { from: 0, to: 5 }], [{ from: 3, to: 7 }, undefined]]);
  expect(vegaLite(chart, split)).toMatchObject({ mark: { type: "bar" }, encoding: { x: { field: "month" }, y: { field: "orders", stack: "zero" }, color: { field: "city" } } });
});

test("of many groups the largest are drawn, and not as parts of a whole", () => {
  const rows = ["2025-01-01", "2025-02-01"].flatMap((month) => Array.from({ length: 9 }, (_, i) => [month, `c${i}`, i]));
  const many = tableOf({ columns: ["month", "city", "orders"], column_types: ["DATE", "VARCHAR", "BIGINT"], rows })!;
  const chart = chooseChart(many)!;
  expect(chart).toMatchObject({ kind: "line", kinds: ["line", "columns"], hidden: 4, labels: ["Jan 2025", "Feb 2025"] });
  expect(chart.series.map((s) => s.name)).toEqual(["c8", "c7", "c6", "c5", "c4"]);
  expect(chart.cells![0]).toEqual([{ row: 8, column: 2 }, { row: 17, column: 2 }]);
});

test("a pie has the largest shares, and one slice of all others", () => {
  const many = tableOf({ columns: ["city", "orders"], column_types: ["VARCHAR", "BIGINT"], rows: Array.from({ length: 20 }, (_, i) => [`c${i}`, 20 - i]) })!;
  const pie = slices(chooseChart(many, "pie")!);
  expect(pie.map((s) => s.label)).toEqual(["c0", "c1", "c2", "c3", "c4", "c5", "14 others"]);
  expect(pie.at(-1)).toMatchObject({ value: 105, to: 1 });
  expect(vegaLite(chooseChart(many, "pie")!, many)).toMatchObject({ mark: { type: "arc" }, encoding: { theta: { field: "orders" }, color: { field: "city" } } });
});

test("what stands out is said where no model was asked", () => {
  const months = tableOf({ columns: ["month", "sum_paid"], column_types: ["DATE", "DECIMAL(10,2)"], rows: [["2025-01-01", 3], ["2025-02-01", 9], ["2025-03-01", 1]] })!;
  expect(summary(months)).toBe("Total paid is highest in Feb 2025 with 9.00 and lowest in Mar 2025 with 1.00.");
  expect(summary(split)).toBe("");
});

const refundPlan: Plan = { table: "returns", select: [{ column: "return_date", truncate: "month", alias: "month" }, { column: "refund_amount", function: "sum" }], group_by: ["month"], order_by: [{ column: "month" }], filters: [{ column: "return_date", operator: ">=", value: "2025-01-01" }, { column: "return_date", operator: "<", value: "2026-01-01" }], limit: -1 };

test("a plan is said in words", () => {
  expect(readings(refundPlan)).toEqual([
    { key: "measure", value: "sum of refund amount", part: { kind: "measure", at: 1 } }, { key: "by", value: "month of return date", part: { kind: "group", at: 0 } },
    { key: "from", value: "returns" }, { key: "return date", value: "2025", part: { kind: "period", from: 0, to: 1 } },
  ]);
  const anyCase: Json = { table: "tickets", select: [{ column: "priority", function: "max", alias: "priority" }, { column: "*", function: "count" }], group_by: [{ column: "priority", function: "lower" }], filters: [{ column: "t.status", operator: "in", value: ["OPEN", "open"] }] };
  expect(readings(anyCase).map((r) => `${r.key}: ${r.value}`)).toEqual(["measure: number of rows", "by: priority", "from: tickets", "status: is open"]);
  expect(readings("no plan")).toEqual([]);
});

test("each part of a plan can be changed, and the rest stays", () => {
  const columns = columnsOf(refundPlan, [{ table_name: "returns", columns: [{ name: "return_id", type: "BIGINT" }, { name: "return_date", type: "DATE" }, { name: "reason", type: "VARCHAR" }, { name: "quantity", type: "BIGINT" }, { name: "refund_amount", type: "DECIMAL(12,2)" }] }]);
  const change = (at: number, label: string) => changesOf(readings(refundPlan)[at].part!, refundPlan, columns).find((c) => c.label === label)!;
  expect(change(0, "average of refund amount").plan.select).toEqual([{ column: "return_date", truncate: "month", alias: "month" }, { column: "refund_amount", function: "avg" }]);
  expect(change(0, "number of rows").plan).toMatchObject({ filters: refundPlan.filters, group_by: ["month"] });
  expect(change(1, "quarter of return date")).toMatchObject({ words: "by quarter of return date", plan: { select: [{ column: "return_date", truncate: "quarter", alias: "quarter" }, { function: "sum" }], group_by: ["quarter"], order_by: [{ column: "quarter" }] } });
  expect(change(1, "reason").plan).toMatchObject({ select: [{ column: "reason" }, { function: "sum" }], group_by: ["reason"], order_by: [{ column: "reason" }] });
  expect(change(1, "no grouping")).toMatchObject({ words: "in total", plan: { select: [{ column: "refund_amount", function: "sum" }], group_by: [], order_by: [] } });
  expect(change(3, "2024")).toMatchObject({ words: "in 2024", plan: { filters: [{ value: "2024-01-01" }, { value: "2025-01-01" }] } });
  expect(change(3, "Q3 2025").plan.filters).toMatchObject([{ value: "2025-07-01" }, { value: "2025-10-01" }]);
  expect(change(3, "all time").plan.filters).toEqual([]);
  expect(withFilter(refundPlan, undefined, columns[2], "damaged")).toMatchObject({ words: "only reason damaged", plan: { filters: [{}, {}, { column: "reason", operator: "equals_any_case", value: "damaged" }] } });
});

test("a chart for other programs has fields that cannot be taken for paths", () => {
  const odd = tableOf({ columns: ["Station", "a.b", "it's", 'x"y', "1", "total[0]"], column_types: ["VARCHAR", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT"], rows: [["S0", 10, 11, 12, 13, 14], ["S1", 20, 21, 22, 23, 24]] })!;
  const doc = vegaLite(chooseChart(odd)!, odd) as { data: { values: unknown[] }; transform: object[]; encoding: object };
  expect(doc.data.values[0]).toEqual({ Station: "S1", "column 2": 20, "column 3": 21, "column 4": 22, "1": 23, "column 6": 24 });
  expect(doc.transform[0]).toEqual({ fold: ["column 2", "column 3", "column 4", "1", "column 6"], as: ["series", "value"] });
  expect(doc.transform.slice(1)).toContainEqual({ calculate: 'datum.series === "column 4" ? "x\\"y" : datum.series', as: "series" });
  expect(doc.encoding).toMatchObject({ x: { field: "Station" }, y: { field: "value" }, color: { field: "series" } });
  const one = tableOf({ columns: ["a.b", "total_paid", "total paid"], column_types: ["VARCHAR", "VARCHAR", "BIGINT"], rows: [["S0", "p", 1], ["S1", "q", 2]] })!;
  expect(vegaLite(chooseChart(one)!, one)).toMatchObject({ encoding: { x: { field: "column 1", title: "a.b" }, y: { field: "total paid" } } });
  const twice = tableOf({ columns: ["value", "n", "n"], column_types: ["VARCHAR", "BIGINT", "BIGINT"], rows: [["a", 1, 5], ["b", 2, 6]] })!;
  expect(vegaLite(chooseChart(twice)!, twice)).toMatchObject({ data: { values: [{ "column 1": "b", n: 2, "column 3": 6 }, {}] }, transform: [{ fold: ["n", "column 3"] }, {}] });
});

test("headings are words, names that somebody chose stay", () => {
  expect(["sum_refund_amount", "sum_total", "sum_of_total_paid", "count_star", "Umsatz EUR"].map(heading)).toEqual(["total refund amount", "total", "total paid", "count", "Umsatz EUR"]);
});

test("two statements differ in one word", () => {
  expect(diffWords("WHERE a > 1", "WHERE b > 1").filter((p) => p.kind !== "same")).toEqual([{ kind: "removed", text: "a" }, { kind: "added", text: "b" }]);
});
