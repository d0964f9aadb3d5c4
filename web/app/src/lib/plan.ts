// How a question was read, as pairs of a key and a value, from the query plan that was run.

import type { Json } from "../../../types/events";
import { words } from "./words";

/** A Plan is a query plan as the tools take it. */
export type Plan = Record<string, Json>;

/** A Part is what a reading stands for in its plan: an entry of select, group_by or filters, a period, the limit. */
export type Part = { kind: "measure" | "group" | "filter"; at: number } | { kind: "period"; from: number; to: number } | { kind: "limit" };

export interface Reading {
  key: string;
  value: string;
  /** Absent where the reading cannot be changed by itself. */
  part?: Part;
}

export interface Field {
  column?: string;
  metric?: string;
  function?: string;
  truncate?: string;
  alias?: string;
}

export interface Filter {
  column?: string;
  operator?: string;
  value?: Json;
}

const aggregates: Record<string, string> = { sum: "sum of", avg: "average of", count: "number of", min: "lowest", max: "highest", median: "median of", stddev: "deviation of", count_distinct: "distinct", share: "share of", percent: "percent of" };
const operators: Record<string, string> = { "=": "is", "!=": "is not", "<>": "is not", in: "is one of", not_in: "is none of", like: "like", equals_any_case: "is", in_period: "in", contains: "contains", is_null: "is empty", is_not_null: "is not empty" };

/** isPlan says whether a value is a plan that can be said in words. */
export const isPlan = (plan: Json | undefined): plan is Plan => typeof plan === "object" && plan !== null && !Array.isArray(plan) && typeof plan.table === "string";

const listOf = (v: Json | undefined): Json[] => (Array.isArray(v) ? v : []);
export const fieldsOf = (plan: Plan) => listOf(plan.select) as Field[];
export const filtersOf = (plan: Plan) => listOf(plan.filters) as Filter[];
export const groupsOf = (plan: Plan) => listOf(plan.group_by).map((g) => (typeof g === "object" && g !== null ? g : { column: String(g) }) as Field);

/** isShown says whether a field shows a spelling of a group that ignores case; it is no measure. */
const isShown = (f: Field, groups: Field[]) => groups.some((g) => g.function === "lower" && g.column === f.column);

export const isMeasure = (f: Field, groups: Field[]) => Boolean(f.metric || (f.function && f.function in aggregates)) && !isShown(f, groups);

/** columnInWords names a column without the table that it is of. */
export const columnInWords = (column: string | undefined) => words((column ?? "").replace(/^.*\./, ""));

/** measureInWords says what is counted or summed. */
export function measureInWords(f: Field): string {
  if (f.metric) return words(f.metric);
  return `${aggregates[f.function ?? ""] ?? words(f.function ?? "")} ${f.column && f.column !== "*" ? columnInWords(f.column) : "rows"}`;
}

/** groupInWords says by what rows are grouped. */
export const groupInWords = (f: Field) => (f.truncate ? `${f.truncate} of ${columnInWords(f.column)}` : columnInWords(f.column));

/** fieldOf is the field that shows a group: the one with its name, else the one of its column. */
export function fieldOf(group: Field, fields: Field[]): number {
  const named = fields.findIndex((f) => f.alias === group.column);
  return named >= 0 ? named : fields.findIndex((f) => f.column === group.column && (!f.function || group.function === "lower"));
}

/** readings says a query plan in words. */
export function readings(plan: Json | undefined): Reading[] {
  if (!isPlan(plan)) return [];
  const [fields, groups] = [fieldsOf(plan), groupsOf(plan)];
  const out: Reading[] = [];
  fields.forEach((f, at) => {
    if (isMeasure(f, groups)) out.push({ key: "measure", value: measureInWords(f), part: { kind: "measure", at } });
  });
  groups.forEach((g, at) => {
    const field = g.truncate ? g : fields[fieldOf(g, fields)];
    out.push({ key: "by", value: groupInWords(field?.truncate ? field : g), part: { kind: "group", at } });
  });
  out.push({ key: "from", value: words(plan.table as string) }, ...conditions(filtersOf(plan)));
  if (typeof plan.limit === "number" && plan.limit > 0) out.push({ key: "at most", value: `${plan.limit} rows`, part: { kind: "limit" } });
  return out;
}

// conditions joins two bounds of a column into a period; other filters are said one by one.
function conditions(filters: Filter[]): Reading[] {
  const out: Reading[] = [];
  const taken = new Set<number>();
  filters.forEach((f, from) => {
    if (f.operator !== ">=" || !isDay(f.value)) return;
    const to = filters.findIndex((g) => g.column === f.column && g.operator === "<" && isDay(g.value));
    if (to < 0) return;
    taken.add(from).add(to);
    out.push({ key: columnInWords(f.column), value: period(String(f.value), String(filters[to].value)), part: { kind: "period", from, to } });
  });
  filters.forEach((f, at) => {
    if (taken.has(at)) return;
    if (!f.column || !f.operator) out.push({ key: "where", value: "a condition of several parts" });
    else out.push({ key: columnInWords(f.column), value: comparison(f), part: { kind: "filter", at } });
  });
  return out;
}

// comparison says a filter without its column; spellings of one word are said once.
function comparison(f: Filter): string {
  const list = Array.isArray(f.value) ? f.value.map(String) : [];
  const spellings = list.length > 1 && new Set(list.map((v) => v.toLowerCase())).size === 1;
  const value = spellings ? list[0].toLowerCase() : list.length ? list.join(", ") : f.value === undefined || f.value === null || Array.isArray(f.value) ? "" : String(f.value);
  const operator = spellings && f.operator === "in" ? "is" : (operators[(f.operator ?? "").toLowerCase()] ?? f.operator ?? "");
  return `${operator} ${value}`.trim();
}

const isDay = (v: unknown) => /^\d{4}-\d\d-\d\d/.test(String(v));

/** period names the days from one up to another, which is not part of it. */
export function period(from: string, to: string): string {
  const [y, m, d] = from.slice(0, 10).split("-").map(Number);
  const [toY, toM, toD] = to.slice(0, 10).split("-").map(Number);
  if (d === 1 && toD === 1) {
    if (m === 1 && toM === 1 && toY === y + 1) return String(y);
    const span = (toY - y) * 12 + toM - m;
    const name = new Date(Date.UTC(y, m - 1, 1)).toLocaleDateString(undefined, { month: "short", year: "numeric", timeZone: "UTC" });
    if (span === 1) return name;
    if (span === 3 && m % 3 === 1) return `Q${(m + 2) / 3} ${y}`;
  }
  const day = (t: number) => new Date(t).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  return `${day(Date.UTC(y, m - 1, d))} to ${day(Date.UTC(toY, toM - 1, toD) - 86_400_000)}`;
}
