import { expect, test } from "vitest";
import type { Json } from "../../../types/events";
import { chooseChart } from "./chart";
import { diffWords } from "./diff";
import { bindFigures } from "./figures";
import { readings } from "./plan";
import { tableOf } from "./result";
import { heading } from "./words";

const refunds = tableOf({ columns: ["month", "sum_refund_amount"], column_types: ["TIMESTAMP", "DECIMAL(38,2)"], rows: [["2025-11-01 00:00:00", 29092.65], ["2025-12-01 00:00:00", 41225.43]], row_count: 2 })!;

test("a figure is bound to its cell, and a year is not one", () => {
  const pieces = bindFigures("In 2025 it was 41,225 in December, not 99.", refunds);
  expect(pieces.filter((p) => p.cells)).toEqual([{ text: "41,225", cells: [{ row: 1, column: 1 }] }]);
  expect(pieces.map((p) => p.text).join("")).toBe("In 2025 it was 41,225 in December, not 99.");
});

test("the chart is chosen from the shape of the result", () => {
  expect(chooseChart(refunds)).toMatchObject({ kind: "columns", labels: ["Nov 2025", "Dec 2025"] });
  const bars = tableOf({ columns: ["city", "orders"], column_types: ["VARCHAR", "BIGINT"], rows: [["A long name of a city", 1], ["Bern", 5]] })!;
  expect(chooseChart(bars)).toMatchObject({ kind: "bars", labels: ["Bern", "A long name of a city"] });
  const ids = tableOf({ columns: ["customer_id", "name"], column_types: ["BIGINT", "VARCHAR"], rows: [[1, "a"], [2, "b"]] })!;
  expect(chooseChart(ids)).toBeUndefined();
});

test("a plan is said in words", () => {
  const plan: Json = { table: "returns", select: [{ column: "return_date", truncate: "month", alias: "month" }, { column: "refund_amount", function: "sum" }], group_by: ["month"], filters: [{ column: "return_date", operator: ">=", value: "2025-01-01" }, { column: "return_date", operator: "<", value: "2026-01-01" }], limit: -1 };
  expect(readings(plan)).toEqual([{ key: "measure", value: "sum of refund amount" }, { key: "by", value: "month of return date" }, { key: "from", value: "returns" }, { key: "return date", value: "2025" }]);
  const anyCase: Json = { table: "tickets", select: [{ column: "priority", function: "max", alias: "priority" }, { column: "*", function: "count" }], group_by: [{ column: "priority", function: "lower" }] };
  expect(readings(anyCase)).toEqual([{ key: "measure", value: "number of rows" }, { key: "by", value: "priority" }, { key: "from", value: "tickets" }]);
  expect(readings("no plan")).toEqual([]);
});

test("headings are words, names that somebody chose stay", () => {
  expect(["sum_refund_amount", "count_star", "Umsatz EUR"].map(heading)).toEqual(["total refund amount", "count", "Umsatz EUR"]);
});

test("two statements differ in one word", () => {
  expect(diffWords("WHERE a > 1", "WHERE b > 1").filter((p) => p.kind !== "same")).toEqual([{ kind: "removed", text: "a" }, { kind: "added", text: "b" }]);
});
