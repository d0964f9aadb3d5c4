// The stops of a turn: every state, call and card that somebody can look back at, and their words.

import type { ModelCall, Move, Question, ToolCall, Turn } from "./thread.svelte";
import { title, words } from "./words";

/** A Stop is one step of a turn. end is the last event of it, until the one before the next stop. */
export interface Stop {
  step: Move | ModelCall | ToolCall | Question;
  state: string;
  /** The number of the state on the path, 0 for what happens within one. */
  number: number;
  label: string;
  end: number;
  until: number;
}

/** stopsOf lists what happened in a turn, in its order. */
export function stopsOf(turn: Turn | undefined): Stop[] {
  const out: Stop[] = [];
  let state = "";
  let number = 0;
  for (const step of turn?.steps ?? []) {
    if (step.kind === "note" || step.kind === "facts") continue;
    if (step.kind === "move") {
      state = step.entered.to;
      number++;
    }
    const last = out.at(-1);
    if (last) last.until = step.seq - 1;
    out.push({ step, state, number: step.kind === "move" ? number : 0, label: labelOf(step), end: ("endSeq" in step && step.endSeq) || step.seq, until: Number.POSITIVE_INFINITY });
  }
  return out;
}

function labelOf(step: Stop["step"]): string {
  if (step.kind === "move") return title(step.entered.to);
  if (step.kind === "model") return step.failure ? "Model failed" : `Model call ${step.number || ""}`.trim();
  if (step.kind === "card") return step.raised.title;
  return `${title(step.tool)} ${{ running: "runs", done: "returned", duplicate: "was not run again", failed: "failed", refused: "was refused" }[step.status]}`;
}

const events: Record<string, string> = { start: "the question came", final: "the model gave its final text", done: "its step was done", entered: "the state was entered", model_failed: "the model failed", returned: "returned", failed: "failed", refused: "was refused", call: "was asked for", planned: "was planned", started: "started", answered: "was answered", asked: "was asked", command: "was chosen" };

/** causeInWords says what happened before a move: "sql_select returned". */
export function causeInWords(on: string[]): string {
  const happened = on.filter((e) => e in events).map((e) => events[e]).join(" or ");
  const things = on.filter((e) => !(e in events)).map(words).join(" or ");
  return [things, happened].filter(Boolean).join(" ") || "its step is done";
}

/** truth says whether a part of a guard held, where its values say so beyond doubt. */
export function truth(part: string, saw: Record<string, unknown>): boolean | undefined {
  const name = String.raw`[a-z_][\w.]*`;
  const bare = new RegExp(`^(!?)(${name})$`).exec(part);
  if (bare) return typeof saw[bare[2]] === "boolean" ? (bare[1] ? !saw[bare[2]] : (saw[bare[2]] as boolean)) : undefined;
  const compared = new RegExp(`^(${name}|-?[\\d.]+) (==|!=|<=|>=|<|>) (${name}|-?[\\d.]+|"[^"\\\\]*"|nil)$`).exec(part);
  if (!compared) return undefined;
  const [left, right] = [valueOf(compared[1], saw), valueOf(compared[3], saw)];
  if (left === undefined || right === undefined) return undefined;
  if (compared[2] === "==" || compared[2] === "!=") {
    if (typeof left === "object" && left !== null) return right === null ? compared[2] === "!=" : undefined;
    return (left === right) === (compared[2] === "==");
  }
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  return { "<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right }[compared[2]];
}

function valueOf(term: string, saw: Record<string, unknown>): unknown {
  if (term === "nil") return null;
  if (term === "true" || term === "false") return term === "true";
  if (/^-?[\d.]+$/.test(term)) return Number(term);
  return term.startsWith('"') ? term.slice(1, -1) : saw[term];
}

/** partsOf splits a guard at the && that stand outside brackets and texts; one with an || there is one part. */
export function partsOf(when: string): string[] {
  const out: string[] = [];
  let [depth, from, text] = [0, 0, ""];
  for (let i = 0; i < when.length; i++) {
    const c = when[i];
    if (text) {
      if (c === "\\") i++;
      else if (c === text) text = "";
    } else if (c === '"' || c === "'") text = c;
    else if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
    else if (depth === 0 && when.startsWith("||", i)) return [when];
    else if (depth === 0 && when.startsWith("&&", i)) {
      out.push(when.slice(from, i).trim());
      from = i + 2;
      i++;
    }
  }
  return [...out, when.slice(from).trim()];
}
