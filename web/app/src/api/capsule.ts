// The audit document of a run, as /runs/{id} gives it.

import type { ArtifactMade, CardRaised, Denial, Json, ModelCall as AskedCall, Ran, StateEntered, Usage } from "../../../types/events";
import { get } from "./client";

export interface Capsule {
  run_id: string;
  thread_id: string;
  machine: string;
  machine_version: string;
  question: string;
  dataset_id?: string;
  dataset_version_hash?: string;
  settings?: Record<string, Json>;
  outcome: string;
  code?: string;
  assistant_message: string;
  started_at: string;
  ended_at?: string;
  ms: number;
  usage: Usage;
  model_calls: ModelCall[];
  tool_calls: ToolCall[];
  states: (StateEntered & { at: string })[];
  cards?: (CardRaised & { answer?: string; note?: string })[];
  artifacts?: ArtifactMade[];
  log: { first_seq: number; last_seq: number };
}

export interface ModelCall {
  call: string;
  state: string;
  model: string;
  tools?: string[];
  denied?: Denial[];
  text?: string;
  calls?: AskedCall[];
  usage: Usage;
  failure?: string;
  ms: number;
}

export interface ToolCall {
  call: string;
  tool: string;
  by?: string;
  state?: string;
  arguments?: Json;
  outcome: "returned" | "failed" | "refused";
  result?: Json;
  ran?: Ran;
  code?: string;
  message?: string;
  duplicate_of?: string;
  ms: number;
}

export const capsuleOf = (id: string) => get("/runs/{id}", { id }) as Promise<unknown> as Promise<Capsule>;

/** sqlOf is the statement that a call ran, if it ran one. */
export function sqlOf(call: ToolCall): string {
  const [args, result] = [call.arguments, call.result] as [{ sql?: unknown } | undefined, { compiled_sql?: unknown } | undefined];
  return String(call.ran?.sql ?? result?.compiled_sql ?? args?.sql ?? "");
}
