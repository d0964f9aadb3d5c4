// How the values of a column are written: one writer a column, so that they look alike.

import { compareNumbers, isIdentifier, isNumeric, numberWriter } from "./number";

/** A Column of a result: its name and, where it is known, its DuckDB type. */
export interface Column {
  name: string;
  type: string;
}

/** A Grain is the smallest part of a time that a column's values tell apart. */
export type Grain = "year" | "quarter" | "month" | "day" | "time";

const stamp = /^(-?\d{4,})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;

export const isEmpty = (v: unknown): v is null | undefined => v === null || v === undefined;

/** isTime says whether a column holds days or times. */
export const isTime = (column: Column) => /^(DATE|TIMESTAMP)/.test(column.type);

/** isNumber says whether a column holds numbers, by its type or else by its values. */
export function isNumber(column: Column, values: unknown[]): boolean {
  if (column.type) return isNumeric(column.type);
  return values.some((v) => typeof v === "number") && values.every((v) => isEmpty(v) || typeof v === "number");
}

/** isMeasure says whether a column holds amounts that can be drawn. */
export const isMeasure = (column: Column, values: unknown[]) => isNumber(column, values) && !isIdentifier(column.name);

/** grain tells how fine the times of a column are. A month is only one where each value is the first of a month. */
export function grain(column: Column, values: unknown[]): Grain {
  const found = values.filter((v) => !isEmpty(v)).map((v) => stamp.exec(String(v)));
  if (!found.length || found.some((m) => !m)) return "time";
  const all = (fits: (m: RegExpExecArray) => boolean) => found.every((m) => fits(m!));
  if (!all((m) => !Number(m[4] ?? 0) && !Number(m[5] ?? 0) && !Number(m[6] ?? 0))) return "time";
  if (!all((m) => m[3] === "01")) return "day";
  const named = (word: RegExp) => word.test(column.name);
  if (named(/year/i) && all((m) => m[2] === "01")) return "year";
  if (named(/quarter/i)) return "quarter";
  return named(/month/i) || found.length > 1 ? "month" : "day";
}

const months = Array.from({ length: 12 }, (_, i) => new Date(2025, i, 15).toLocaleDateString(undefined, { month: "short" }));

/** timeWriter writes times as years, quarters, months or days where they are no finer. */
export function timeWriter(grain: Grain): (value: unknown) => string {
  return (value) => {
    const m = stamp.exec(String(value));
    if (!m) return String(value);
    const [, year, month, day, hour = "00", minute = "00", second = "00", fraction] = m;
    const name = months[Number(month) - 1];
    switch (grain) {
      case "year": return year;
      case "quarter": return `Q${Math.ceil(Number(month) / 3)} ${year}`;
      case "month": return `${name} ${year}`;
      case "day": return `${Number(day)} ${name} ${year}`;
      case "time": return `${Number(day)} ${name} ${year} ${hour}:${minute}` + (second !== "00" || fraction ? `:${second}` : "") + (m[8] && m[8] !== "Z" ? ` ${m[8]}` : "");
    }
  };
}

/** writer returns the function that writes the values of a column. */
export function writer(column: Column, values: unknown[]): (value: unknown) => string {
  if (isNumber(column, values)) return numberWriter(column.name, column.type, values);
  if (isTime(column)) return timeWriter(grain(column, values));
  return (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** compareValues orders two values of a column; empty ones come last in either direction. */
export function compareValues(a: unknown, b: unknown, column: Column, down: boolean): number {
  if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
  const sign = down ? -1 : 1;
  if (column.type ? isNumeric(column.type) : typeof a === "number" && typeof b === "number") return sign * compareNumbers(a, b);
  return sign * collator.compare(String(a), String(b));
}

const collator = new Intl.Collator(undefined, { numeric: true });
