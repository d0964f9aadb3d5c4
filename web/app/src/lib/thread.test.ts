import { expect, test } from "vitest";
import type { Event } from "../../../types/events";
import { ThreadLog } from "./thread.svelte";

const at = (kind: string, body: unknown) => ({ kind, body, time: "2026-11-16T00:00:00Z" }) as unknown as Event;

test("what a model thinks is shown as it comes, and as it was stored in the end", () => {
  const log = new ThreadLog();
  log.apply(at("turn_started", { run: "r1", text: "How many?" }));
  log.apply(at("model_called", { call: "m1", state: "answering", offered: [], number: 1 }));
  log.apply(at("thought", { call: "m1", text: "Count " }));
  log.apply(at("thought", { call: "m1", text: "the rows." }));
  const model = log.turns[0].models[0];
  expect(model.thoughts).toBe("Count the rows.");
  log.forgetPartial();
  expect(model.thoughts).toBe("");
  log.apply(at("model_replied", { call: "m1", text: "Five.", thoughts: "Count the rows.", model: "m", ms: 1, usage: {} }));
  expect(model.thoughts).toBe("Count the rows.");
});

test("output that is told again from its beginning is there once", () => {
  const log = new ThreadLog();
  log.apply(at("turn_started", { run: "r1", text: "PYTHON: …" }));
  log.apply(at("tool_started", { call: "t1", tool: "run_python", args: {}, by: "step" }));
  log.apply(at("tool_progress", { call: "t1", tool: "run_python", note: "one\n", stream: "stdout" }));
  log.forgetPartial();
  log.apply(at("tool_progress", { call: "t1", tool: "run_python", note: "one\ntwo\n", stream: "stdout" }));
  expect(log.turns[0].tools[0].printed).toBe("one\ntwo\n");
});
