// Results as tables: what a tool returned, put into columns and rows.

import type { Json } from "../../../types/events";
import { compareValues, isEmpty, type Column } from "./column";

/** A Result is a table of a tool: columns and rows that the page has, and how many there are in all. */
export interface Result {
  columns: Column[];
  rows: unknown[][];
  total: number;
  /** There are more rows than the turn shows. */
  limited: boolean;
}

/** tableOf finds the table in what a tool returned, if it is one. */
export function tableOf(value: Json | undefined): Result | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { columns, rows, column_types: types, stats } = value;
  if (columns === undefined && rows === undefined && "result" in value) return tableOf(value.result);
  if (!Array.isArray(columns) || !Array.isArray(rows) || !columns.length) return undefined;
  const named = columns.map((c, i) => {
    const given = typeof c === "object" && c !== null && !Array.isArray(c) ? c : { name: String(c) };
    return { name: String(given.name ?? ""), type: String((Array.isArray(types) ? types[i] : given.type) ?? "") };
  });
  const lists = rows.map((r) => (Array.isArray(r) ? r : named.map((c) => (r as Record<string, Json>)?.[c.name])));
  const told = (name: string) => value[name] ?? (typeof stats === "object" && stats !== null && !Array.isArray(stats) ? stats[name] : undefined);
  const total = Math.max(Number(told("total_rows") ?? 0), Number(told("row_count") ?? 0), lists.length);
  return { columns: named, rows: lists, total, limited: Boolean(told("limited")) };
}

export interface Sort {
  column: number;
  down: boolean;
}

/** having leaves the rows with a text in some column. */
export function having(rows: unknown[][], find: string): unknown[][] {
  if (!find) return rows;
  const text = find.toLowerCase();
  return rows.filter((row) => row.some((v) => !isEmpty(v) && (typeof v === "object" ? JSON.stringify(v) : String(v)).toLowerCase().includes(text)));
}

export const sorted = (rows: unknown[][], sort: Sort | undefined, columns: Column[]) =>
  sort ? rows.toSorted((a, b) => compareValues(a[sort.column], b[sort.column], columns[sort.column], sort.down)) : rows;

/** asCSV writes rows with their heads, as spreadsheets read them. */
export function asCSV(columns: Column[], rows: unknown[][]): string {
  const quote = (v: unknown) => {
    const text = isEmpty(v) ? "" : typeof v === "object" ? JSON.stringify(v) : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.map((c) => c.name), ...rows].map((r) => r.map(quote).join(",")).join("\n");
}
