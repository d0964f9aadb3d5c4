// A reconciliation as the page shows it: phases, pairs, sums, and the evidence of a match.

import type { Json } from "../../../types/events";
import type { MachineView } from "../api/schema";
import type { Column } from "./column";
import { count } from "./words";

const isRow = (v: unknown): v is Record<string, Json> => typeof v === "object" && v !== null && !Array.isArray(v);
const list = (v: Json | undefined) => (Array.isArray(v) ? v : []);

/** phasesOf gives the states of a machine that is a line of phases, each leading to the next; none for others. */
export function phasesOf(machine: MachineView | undefined): string[] {
  const states = machine?.states ?? [];
  if (states.length < 4 || (states.at(-1)!.to ?? []).length) return [];
  return states.every((s, i) => i === states.length - 1 || (s.to?.length === 1 && s.to[0] === states[i + 1].name)) ? states.map((s) => s.name) : [];
}

const names: Record<string, string> = { greeting: "Sources", intent: "Sides", scoping: "Rows", demonstration: "Pairs", inference: "Rules", validation: "Approval", execution: "Run" };

/** phaseName names a phase in a word; one that is not known keeps the name of its state. */
export const phaseName = (state: string) => names[state] ?? state.replaceAll("_", " ");

/** phaseNote says what is known of a phase. */
export function phaseNote(state: string, facts: Record<string, unknown>): string {
  const f = facts as Record<string, Json | undefined>;
  const rows = (side: string) => (isRow(f[side]) ? Number((f[side] as Record<string, Json>).total_rows).toLocaleString() : "");
  switch (state) {
    case "greeting": return list(f.sources_list).length ? `${list(f.sources_list).length} found` : "";
    case "intent": return [f.left_source_alias, f.right_source_alias].filter(Boolean).join(", ");
    case "scoping": return [rows("scope_left"), rows("scope_right")].filter(Boolean).join(" and ") + (f.scope_left ? " rows" : "");
    case "demonstration": return list(f.confirmed_pairs).length ? `${list(f.confirmed_pairs).length} confirmed` : "";
    case "inference": return list(f.rules).length ? count(list(f.rules).length, "rule") : "";
    case "validation": return f.validation_approved ? "given by you" : "";
    case "execution": return isRow(f.full_result) ? `${Number(f.full_result.matched).toLocaleString()} matched` : "";
  }
  return "";
}

/** A PairLine is a line of a proposed pair: two fields that were compared, or one alone. */
export interface PairLine {
  left?: string;
  right?: string;
  sign: "=" | "≈" | "≠" | "";
  why: string;
}

/** A Pair is two rows that may belong together. */
export interface Pair {
  left: Record<string, Json>;
  right: Record<string, Json>;
  reason: string;
  lines: PairLine[];
}

/** rowName is the cell by which a person knows a row: its number where it has one. */
export function rowName(row: Record<string, Json>): string {
  const numbers = Object.keys(row).filter((n) => /(^|_)(id|no|nr|number|key)$/i.test(n)).map((n) => String(row[n] ?? ""));
  return numbers.find((v) => /[a-z].*\d/i.test(v)) ?? numbers[0] ?? String(Object.values(row)[0] ?? "");
}

/** pairOf finds the pair that a card shows, with the fields side by side that were compared. */
export function pairOf(content: Record<string, Json>): Pair | undefined {
  const given = isRow(content.pair) ? content.pair : content;
  const { left, right } = given;
  if (!isRow(left) || !isRow(right)) return undefined;
  const lines: PairLine[] = [];
  const loose: PairLine[] = [];
  const place = (text: string, sign: "=" | "≈") => {
    const found = Object.keys(left).flatMap((l) => Object.keys(right).map((r) => [l, r])).find(([l, r]) => text.startsWith(`${l} and ${r} `));
    if (found) lines.push({ left: found[0], right: found[1], sign, why: text.slice(`${found[0]} and ${found[1]} `.length) });
    else loose.push({ sign, why: text });
  };
  for (const t of list(content.agree)) place(String(t), "=");
  for (const t of list(content.nearly)) place(String(t), "≈");
  // What was not compared stands below, fields of one name side by side.
  const [restLeft, restRight] = [Object.keys(left).filter((n) => !lines.some((x) => x.left === n)), Object.keys(right).filter((n) => !lines.some((x) => x.right === n))];
  const rest: PairLine[] = restLeft.filter((n) => restRight.includes(n)).map((n) => ({ left: n, right: n, sign: String(left[n]) === String(right[n]) ? "=" : "≠", why: "" }));
  const [aloneLeft, aloneRight] = [restLeft, restRight].map((names) => names.filter((n) => !rest.some((x) => x.left === n)));
  for (let i = 0; i < Math.max(aloneLeft.length, aloneRight.length); i++) rest.push({ left: aloneLeft[i], right: aloneRight[i], sign: "", why: "" });
  return { left, right, reason: String(content.reason ?? given.reason ?? ""), lines: [...lines, ...loose, ...rest] };
}

/** Sums are what a recipe gives on some rows. */
export interface Sums {
  matched: number;
  ambiguous: number;
  unmatched_left: number;
  unmatched_right: number;
  amount_matched?: number;
  amount_open?: number;
  by_rule?: Record<string, number>;
}

/** sumsOf finds the outcome of a recipe in what a tool returned or a card shows. */
export function sumsOf(value: Json | undefined): Sums | undefined {
  const o = isRow(value) && isRow(value.outcome) ? value.outcome : undefined;
  return o && ["matched", "ambiguous", "unmatched_left", "unmatched_right"].every((n) => typeof o[n] === "number") ? (o as unknown as Sums) : undefined;
}

/** ruleNames says what stands in place of a learned rule. */
export const ruleNames: Record<string, string> = { confirmed: "confirmed by you", scored: "alike in all that was compared", sum: "parts that add up to one amount" };

/** A Rule was learned from pairs. */
export interface Rule {
  id: string;
  sentence: string;
  precision?: number;
  share?: number;
  covered?: number;
}

/** rulesOf finds the rules in what a tool returned. */
export function rulesOf(value: Json | undefined): Rule[] {
  return isRow(value) ? (list(value.rules).filter((r) => isRow(r) && typeof r.sentence === "string") as unknown as Rule[]) : [];
}

/** A Part is one comparison of a match: what it saw and how much it speaks for the match. */
export interface Part {
  name: string;
  left: string;
  right: string;
  level: string;
  weight: number;
}

/** evidenceOf reads the comparisons of a match from its row: "c1 left: invoice_no", "c1 right: text", "c1 level", "c1 weight"; they and the closeness add up to its score. */
export function evidenceOf(columns: Column[], row: unknown[]): Part[] {
  const cell = (name: string) => row[columns.findIndex((c) => c.name === name)];
  const closeness = Number(cell("closeness") ?? 0);
  const rest: Part[] = closeness ? [{ name: "closeness", left: "", right: "", level: "how near the values of a level are to each other", weight: closeness }] : [];
  const parts = columns.flatMap((c, i) => {
    const [, id, field] = /^(\w+) left: (.+)$/.exec(c.name) ?? [];
    if (!id) return [];
    const other = columns.findIndex((d) => d.name.startsWith(`${id} right: `));
    const weight = cell(`${id} weight`);
    if (weight === null || weight === undefined) return [];
    return [{ name: `${field} and ${columns[other]?.name.slice(`${id} right: `.length) ?? ""}`, left: String(row[i] ?? ""), right: String(row[other] ?? ""), level: String(cell(`${id} level`) ?? ""), weight: Number(weight) }];
  });
  return parts.length ? [...parts, ...rest] : [];
}
