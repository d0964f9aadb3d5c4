// How a question was read, as pairs of a key and a value, from the query plan that was run.

import type { Json } from "../../../types/events";
import { words } from "./words";

export interface Reading {
  key: string;
  value: string;
}

interface Field {
  column?: string;
  function?: string;
  truncate?: string;
  alias?: string;
}

interface Filter {
  column?: string;
  operator?: string;
  value?: Json;
}

const functions: Record<string, string> = { sum: "sum of", avg: "average of", count: "number of", min: "lowest", max: "highest", count_distinct: "distinct" };
const operators: Record<string, string> = { "=": "is", "!=": "is not", "<>": "is not", in: "is one of", like: "like", is_null: "is empty", is_not_null: "is not empty" };

/** isShown says whether a field shows a spelling of a group that ignores case; it is no measure. */
const isShown = (f: Field, groups: Field[]) => groups.some((g) => g.function === "lower" && g.column === f.column);

/** readings says a query plan in words. */
export function readings(plan: Json | undefined): Reading[] {
  if (typeof plan !== "object" || plan === null || Array.isArray(plan) || typeof plan.table !== "string") return [];
  const fields = (Array.isArray(plan.select) ? plan.select : []) as Field[];
  const filters = (Array.isArray(plan.filters) ? plan.filters : []) as Filter[];
  const groups = (Array.isArray(plan.group_by) ? plan.group_by : []).map((g) => (typeof g === "object" && g !== null ? g : { column: String(g) }) as Field);
  const out: Reading[] = [];
  for (const f of fields) if (f.function && !isShown(f, groups)) out.push({ key: "measure", value: `${functions[f.function] ?? words(f.function)} ${f.column && f.column !== "*" ? words(f.column) : "rows"}` });
  for (const g of groups) {
    const field = g.truncate ? g : fields.find((f) => f.alias === g.column || f.column === g.column);
    out.push({ key: "by", value: field?.truncate ? `${field.truncate} of ${words(field.column ?? "")}` : words(g.column ?? "") });
  }
  out.push({ key: "from", value: words(plan.table) }, ...periods(filters));
  if (typeof plan.limit === "number" && plan.limit > 0) out.push({ key: "at most", value: `${plan.limit} rows` });
  return out;
}

// periods joins two bounds of a column into a period; other filters are said one by one.
function periods(filters: Filter[]): Reading[] {
  const out: Reading[] = [];
  const taken = new Set<Filter>();
  for (const from of filters.filter((f) => f.operator === ">=" && isDay(f.value))) {
    const to = filters.find((f) => f.column === from.column && f.operator === "<" && isDay(f.value));
    if (!to) continue;
    taken.add(from).add(to);
    out.push({ key: words(from.column ?? ""), value: period(String(from.value), String(to.value)) });
  }
  for (const f of filters) {
    if (taken.has(f)) continue;
    const value = Array.isArray(f.value) ? f.value.join(", ") : f.value === undefined || f.value === null ? "" : String(f.value);
    out.push({ key: words(f.column ?? ""), value: `${operators[(f.operator ?? "").toLowerCase()] ?? f.operator ?? ""} ${value}`.trim() });
  }
  return out;
}

const isDay = (v: unknown) => /^\d{4}-\d\d-\d\d/.test(String(v));

// period names the days from one up to another, which is not part of it.
function period(from: string, to: string): string {
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
