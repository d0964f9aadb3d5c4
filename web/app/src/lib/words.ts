// Names, times and sizes in the words of people.

/** words makes "other scope" of "other_scope". */
export const words = (name: string) => name.replaceAll("_", " ");

/** title begins words with a capital, and writes short names that are known as they are written. */
export const title = (name: string) => capital(words(name)).replaceAll(/\b(sql|rag|mcp|csv|json|html|llm|id)\b/gi, (w) => w.toUpperCase());

/** sentence makes one of a message: with a capital and a full stop. */
export const sentence = (text: string) => capital(text) + (/[.!?…]$/.test(text) ? "" : ".");

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const aggregates: [RegExp, string][] = [
  [/^sum_(of_)?(?=total(_|$))/, ""], [/^(sum|total)_(of_)?/, "total "], [/^(avg|average|mean)_(of_)?/, "average "], [/^count_star(_\d+)?$/, "count"],
  [/^count_distinct_/, "distinct "], [/^(count|number|num)_(of_)?/, "number of "], [/^min_(of_)?/, "lowest "], [/^max_(of_)?/, "highest "],
];

/** heading writes the name of a column as a person would: "total refund amount". */
export function heading(name: string): string {
  if (name === "count_star()") return "count";
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return name; // a name with capitals or blanks was chosen by somebody
  for (const [pattern, word] of aggregates) if (pattern.test(name)) return words(name.replace(pattern, word));
  return words(name);
}

/** typeInWords names a type of DuckDB as a person would. */
export function typeInWords(type: string): string {
  if (/INT|BIGNUM/.test(type)) return "whole number";
  if (/^(DECIMAL|DOUBLE|FLOAT)/.test(type)) return "number";
  if (/^TIMESTAMP/.test(type)) return "date and time";
  if (type === "VARCHAR") return "text";
  if (type === "BOOLEAN") return "yes or no";
  return type.toLowerCase();
}

/** duration writes milliseconds as people read them. */
export function duration(ms: number | undefined): string {
  if (!ms) return "";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** cost writes millionths of a dollar. */
export function cost(microUSD: number | undefined): string {
  const dollars = (microUSD ?? 0) / 1e6;
  return "$" + dollars.toFixed(dollars > 0 && dollars < 0.1 ? 3 : 2);
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  return n < 1 << 20 ? `${(n / 1024).toFixed(1)} KB` : `${(n / (1 << 20)).toFixed(1)} MB`;
}

export const count = (n: number, what: string) => `${n.toLocaleString()} ${what}${n === 1 ? "" : "s"}`;

/** brief says a value in a line: what it is, or how much of it there is. */
export function brief(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return value.length ? `list of ${value.length.toLocaleString()}` : "empty list";
  if (typeof value === "object") return `record of ${count(Object.keys(value).length, "field")}`;
  const text = String(value);
  return text.length > 100 ? text.slice(0, 99) + "…" : text;
}

/** moment writes a time of today as a time and another as a day. */
export function moment(text: string): string {
  const at = new Date(text);
  if (at.toDateString() === new Date().toDateString()) return at.toLocaleTimeString(undefined, { timeStyle: "short" });
  return at.toLocaleDateString(undefined, { day: "numeric", month: "short", ...(at.getFullYear() !== new Date().getFullYear() && { year: "numeric" }) });
}
