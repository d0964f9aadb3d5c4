// What went wrong with a statement, in words: the engine's own texts speak of bindings and clauses.

import { typeInWords } from "./words";

/** A Failure as somebody reads it. */
export interface Failure {
  message: string;
  /** What to do, where the words say it better than the server. */
  advice?: string;
  /** A name that was probably meant: it stands for from, at a place of the statement. */
  repair?: { from: string; to: string; at?: number };
}

const place = / \(at (?:the end, )?character (\d+)(?:: [^)]*)?\)\s*$/;
const numbers: Record<string, string> = { INT32: "INTEGER", INT64: "BIGINT", INT16: "SMALLINT", INT8: "TINYINT", UINT64: "UBIGINT" };
const typeName = (type: string) => typeInWords(numbers[type] ?? type);
const named = (list: string) => [...list.matchAll(/"([^"]+)"|([\w.]+)/g)].map((m) => m[1] ?? m[2]);

type Reading = [RegExp, (m: RegExpExecArray, at: number | undefined) => Failure];
const readings: Reading[] = [
  [/^Referenced column "([^"]+)" not found in FROM clause!(?:\s*Candidate bindings: ([\s\S]*))?$/, ([, name, list], at) => ({ message: `There is no column “${name}” in these tables`, repair: meant(name, named(list ?? ""), at) })],
  [/^Referenced table "([^"]+)" not found!(?:\s*Candidate tables: ([\s\S]*))?$/, ([, name, list], at) => ({ message: `There is no table “${name}” in this statement`, repair: meant(name, named(list ?? "").slice(0, 1), at, true) })],
  [/^There is no table (\S+) in this dataset\. Use the tables of this dataset: ([^.]*)\.$/, ([all, name, list], at) => ({ message: all, repair: meant(name, named(list), at) })],
  [/^Ambiguous reference to column name "([^"]+)" \(use: (.*)\)$/, ([, name, list], at) => ({ message: `“${name}” is a column of several tables`, advice: `Say which: ${named(list).filter((n) => n !== "or").join(" or ")}.`, repair: meant(name, named(list).slice(0, 1), at, true) })],
  [/^column "([^"]+)" must appear in the GROUP BY clause/, ([, name]) => ({ message: `“${name}” is neither grouped by nor summed up`, advice: "Add it to GROUP BY, or take its sum, min, max or any_value." })],
  [/^syntax error at or near "([^"]*)"$/, ([, word]) => ({ message: `The statement cannot be read from “${word}” on` })],
  [/^syntax error at end of input$/, () => ({ message: "The statement ends before it is complete" })],
  [/^Could not convert string '([^']*)' to (\w+)(?: when casting from source column (\S+))?$/, ([, value, type, column]) => ({ message: `“${value}” cannot be read as a ${typeName(type)}`, advice: column && `It is a value of ${column}; try_cast leaves such values empty.` })],
  [/^No function matches the given name and argument types '(\w+)\((.*?)\)'/, ([, name, types]) => ({ message: `“${name}” does not take ${types.split(", ").map(typeName).join(" and ")}`, advice: "Cast what it is given, or use another function." })],
  [/^More than one row returned by a subquery used as an expression/, () => ({ message: "A subquery that stands for one value gave several rows", advice: "Let it give one, with LIMIT 1 or an aggregate, or compare with IN." })],
  [/^invalid date field format: "([^"]*)", expected format is \(YYYY-MM-DD\)$/, ([, value]) => ({ message: `“${value}” is no date`, advice: "Write dates as YYYY-MM-DD." })],
];

/** failureInWords says what went wrong; a text that is not known stays as it is, on one line. */
export function failureInWords(text: string): Failure {
  const at = place.exec(text)?.[1];
  const bare = text.replace(place, "").trim();
  for (const [pattern, say] of readings) {
    const found = pattern.exec(bare);
    if (found) return say(found, at ? Number(at) : undefined);
  }
  return { message: bare.replaceAll(/\s*\n\s*/g, " ") };
}

// meant is the candidate that a name was probably a slip of.
function meant(name: string, candidates: string[], at: number | undefined, sure = false): Failure["repair"] {
  const near = candidates.map((to) => ({ to, far: distance(name.toLowerCase(), to.toLowerCase()) })).toSorted((a, b) => a.far - b.far)[0];
  return near && (sure || near.far <= Math.max(1, Math.floor(name.length / 3))) ? { from: name, to: near.to, at } : undefined;
}

// distance counts the letters in which two words differ.
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

/** repaired puts the name that was meant into a statement; undefined where the other is not found. */
export function repaired(sql: string, { from, to, at }: NonNullable<Failure["repair"]>): string | undefined {
  const written = /^[a-z_][\w.]*$/i.test(to) ? to : `"${to.replaceAll('"', '""')}"`;
  const here = at !== undefined && sql.slice(at - 1).startsWith(from) ? at - 1 : new RegExp(`(?<![\\w"])${from.replaceAll(/[^\w]/g, "\\$&")}(?![\\w"])`).exec(sql)?.index;
  return here === undefined ? undefined : sql.slice(0, here) + written + sql.slice(here + from.length);
}
