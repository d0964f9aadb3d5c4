// Readings that a person may choose instead of the one that was run: each is the whole plan with one part
// changed, and the words for it.

import type { Json } from "../../../types/events";
import { isTime, type Column } from "./column";
import { isIdentifier, isNumeric } from "./number";
import { columnInWords, fieldOf, fieldsOf, filtersOf, groupInWords, groupsOf, measureInWords, period, type Field, type Part, type Plan } from "./plan";

/** A Change is a plan with one part changed: what its button says, and what the question then says. */
export interface Change {
  label: string;
  words: string;
  plan: Plan;
}

/** A PlanColumn is a column that a plan may use, under the name that it has there. */
export interface PlanColumn extends Column {
  /** The table of the dataset that has it, and its name there. */
  table: string;
  plain: string;
}

interface TableColumns {
  table_name: string;
  columns?: Column[];
}

/** columnsOf are the columns of the tables of a plan; with joins they are named with their table. */
export function columnsOf(plan: Plan, tables: TableColumns[]): PlanColumn[] {
  const joined = (Array.isArray(plan.joins) ? plan.joins : []) as { table?: string; alias?: string }[];
  const used = [{ table: String(plan.table), alias: plan.alias as string | undefined }, ...joined.map((j) => ({ table: String(j.table), alias: j.alias }))];
  return used.flatMap(({ table, alias }) => (tables.find((t) => t.table_name === table)?.columns ?? []).map((c) => ({ ...c, table, plain: c.name, name: joined.length ? `${alias ?? table}.${c.name}` : c.name })));
}

/** canChange says whether parts of a plan stand for themselves: not in a plan of plans. */
export const canChange = (plan: Plan) => !plan.from && !plan.combine && !plan.top && !plan.having;

const mostChoices = 14;
const units = ["day", "week", "month", "quarter", "year"];

/** changesOf lists what a part of a plan may be changed to. */
export function changesOf(part: Part, plan: Plan, columns: PlanColumn[]): Change[] {
  switch (part.kind) {
    case "measure": return otherMeasures(plan, part.at, columns);
    case "group": return otherGroups(plan, part.at, columns);
    case "period": return otherPeriods(plan, part);
    case "filter": return [withoutFilters(plan, [part.at])];
    case "limit": return [5, 10, 20, 50].filter((n) => n !== plan.limit).map((n) => ({ label: `${n} rows`, words: `the first ${n}`, plan: { ...plan, limit: n } })).concat({ label: "all rows", words: "all rows", plan: { ...plan, limit: -1 } });
  }
}

const json = (v: unknown) => v as Json;
const sameField = (a: Field, b: Field) => a.column === b.column && (a.function ?? "") === (b.function ?? "") && (a.metric ?? "") === (b.metric ?? "") && (a.truncate ?? "") === (b.truncate ?? "");
const ordersOf = (plan: Plan) => (Array.isArray(plan.order_by) ? plan.order_by : []) as (Field & { direction?: string; nulls?: string })[];

function otherMeasures(plan: Plan, at: number, columns: PlanColumn[]): Change[] {
  const fields = fieldsOf(plan);
  const old = fields[at];
  const amounts = columns.filter((c) => isNumeric(c.type) && !isIdentifier(c.name));
  const wanted: Field[] = [];
  if (old.column && old.column !== "*") for (const f of ["sum", "avg", "median", "min", "max"]) if (amounts.some((c) => c.name === old.column)) wanted.push({ column: old.column, function: f });
  wanted.push({ function: "count" });
  const same = ["sum", "avg", "median", "min", "max"].includes(old.function ?? "") ? old.function! : "sum";
  for (const c of amounts) wanted.push({ column: c.name, function: same });
  const list = wanted.filter((w, i) => !sameField(w, old) && wanted.findIndex((o) => sameField(o, w)) === i);
  return list.slice(0, mostChoices).map((made) => {
    const orders = ordersOf(plan).map((o) => (sameField(o, old) || (o.column && o.column === old.alias) ? { ...made, ...(o.direction && { direction: o.direction }), ...(o.nulls && { nulls: o.nulls }) } : o));
    return { label: measureInWords(made), words: `the ${measureInWords(made)}`, plan: { ...plan, select: json(fields.map((f, i) => (i === at ? made : f))), order_by: json(orders) } };
  });
}

// otherGroups are calendar steps and columns with names; a place after the last one adds a group.
function otherGroups(plan: Plan, at: number, columns: PlanColumn[]): Change[] {
  const [fields, groups] = [fieldsOf(plan), groupsOf(plan)];
  const old = groups[at];
  const shown = old && (old.truncate ? old : (fields[fieldOf(old, fields)] ?? old));
  const times = columns.filter((c) => isTime(c));
  const own = times.find((c) => c.name === shown?.column);
  const wanted: Field[] = [
    ...(own ? units : []).map((truncate) => ({ column: own!.name, truncate, alias: truncate })),
    ...columns.filter((c) => /^(VARCHAR|BOOLEAN)/.test(c.type) && !isIdentifier(c.name) && !/(name|email|phone|body|text|description|comment|note)$/i.test(c.name)).map((c) => ({ column: c.name })),
    ...(own ? [] : times.map((c) => ({ column: c.name, truncate: "month", alias: "month" }))),
  ].filter((w) => !groups.some((g) => sameAs(w, g, fields)));
  const out = wanted.slice(0, mostChoices).map((made) => ({ label: groupInWords(made), words: `${at < groups.length ? "by" : "split by"} ${groupInWords(made)}`, plan: withGroup(plan, at, made) }));
  if (old && fields.some((f) => f.function && !groups.some((g) => g.column === f.column))) out.push({ label: "no grouping", words: groups.length > 1 ? `without ${groupInWords(shown!)}` : "in total", plan: withGroup(plan, at) });
  return out;
}

function sameAs(wanted: Field, group: Field, fields: Field[]): boolean {
  const shown = group.truncate ? group : (fields[fieldOf(group, fields)] ?? group);
  return wanted.column === shown.column && (wanted.truncate ?? "") === (shown.truncate ?? "");
}

// withGroup puts another group, or none, in the place of one, wherever the plan names it.
function withGroup(plan: Plan, at: number, made?: Field): Plan {
  const [fields, groups] = [fieldsOf(plan), groupsOf(plan)];
  const old = groups[at];
  const place = old ? fieldOf(old, fields) : -1;
  const name = made && (made.alias ?? made.column!);
  const select = place >= 0 ? fields.flatMap((f, i) => (i === place ? (made ? [made] : []) : [f])) : made ? [made, ...fields] : fields;
  const groupBy = (Array.isArray(plan.group_by) ? plan.group_by : []).flatMap((g, i) => (i === at ? (name ? [name] : []) : [g]));
  if (made && at >= groups.length) groupBy.push(name!);
  const isOld = (o: Field) => old !== undefined && (o.column === old.column || (place >= 0 && o.column === fields[place].column)) && (!o.function || o.function === "lower");
  const orders = ordersOf(plan).flatMap((o) => (isOld(o) ? (name ? [{ column: name, ...(o.direction && { direction: o.direction }) }] : []) : [o]));
  if (made?.truncate && !orders.some((o) => !o.function)) orders.unshift({ column: name! });
  const changed: Plan = { ...plan, select: json(select), group_by: json(groupBy), order_by: json(groupBy.length ? orders : []) };
  if (!groupBy.length || made?.truncate) changed.limit = -1;
  return changed;
}

/** withPeriod has other bounds for a period; to is not part of it. */
export function withPeriod(plan: Plan, part: { from: number; to: number }, from: string, to: string): Change {
  const name = period(from, to);
  const filters = filtersOf(plan).map((f, i) => (i === part.from ? { ...f, value: from } : i === part.to ? { ...f, value: to } : f));
  return { label: name, words: / to /.test(name) ? `from ${name}` : `in ${name}`, plan: { ...plan, filters: json(filters) } };
}

function otherPeriods(plan: Plan, part: { from: number; to: number }): Change[] {
  const filters = filtersOf(plan);
  const [from, to] = [filters[part.from], filters[part.to]].map((f) => String(f.value).slice(0, 10));
  const [year, month, day] = from.split("-").map(Number);
  const [toYear, toMonth, toDay] = to.split("-").map(Number);
  const at = (y: number, m: number) => new Date(Date.UTC(y, m - 1, 1)).toISOString().slice(0, 10);
  const spans: [string, string][] = [];
  if (day === 1 && toDay === 1) {
    const months = (toYear - year) * 12 + toMonth - month;
    spans.push([at(year, month - months), from], [to, at(toYear, toMonth + months)]);
    if (months === 12 && month === 1) for (const q of [1, 4, 7, 10]) spans.push([at(year, q), at(year, q + 3)]);
  }
  spans.push([at(year, 1), at(year + 1, 1)]);
  const list = spans.filter(([f, t], i) => !(f === from && t === to) && spans.findIndex(([g, u]) => f === g && t === u) === i);
  return [...list.map(([f, t]) => withPeriod(plan, part, f, t)), { ...withoutFilters(plan, [part.from, part.to]), label: "all time", words: "for all time" }];
}

/** withFilter has a condition on a value of a column: in the place of another filter, or beside them. */
export function withFilter(plan: Plan, at: number | undefined, column: Pick<PlanColumn, "name" | "type">, value: string): Change {
  const text = column.type.startsWith("VARCHAR");
  const made = { column: column.name, operator: text ? "equals_any_case" : "=", value: text ? value : column.type === "BOOLEAN" ? value.toLowerCase() === "true" : value !== "" && isNumeric(column.type) && String(Number(value)) === value ? Number(value) : value };
  const filters = filtersOf(plan);
  return { label: value, words: `only ${columnInWords(column.name)} ${value}`, plan: { ...plan, filters: json(at === undefined ? [...filters, made] : filters.map((f, i) => (i === at ? made : f))) } };
}

function withoutFilters(plan: Plan, gone: number[]): Change {
  const filters = filtersOf(plan);
  return { label: "leave it out", words: `without the condition on ${columnInWords(filters[gone[0]].column)}`, plan: { ...plan, filters: json(filters.filter((_, i) => !gone.includes(i))) } };
}
