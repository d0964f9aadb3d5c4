// How a client reads a thread: one switch over the kinds of events, each with its own
// body. The test beside it checks this file, so a kind that is added must be read here.

import type { Event, Kind, Outcome, Value } from "./events";

/** A line says what happened, for a log that people read. */
export function line(event: Event): string {
  switch (event.kind) {
    case "thread_opened": return `a thread of ${event.body.machine}`;
    case "turn_started": return `said: ${event.body.text ?? ""}`;
    case "person_called": return `called ${event.body.tool ?? event.body.say} by ${event.body.by}`;
    case "command_given": return `command ${event.body.command}`;
    case "facts_changed": return `facts ${Object.keys(event.body.set ?? {}).join(", ")}`;
    case "state_entered": return `${event.body.from ?? "start"} -> ${event.body.to}`;
    case "model_called": return `asked ${event.body.model}, call ${event.body.number}`;
    case "thought": return `(${event.body.text})`;
    case "token": return event.body.text;
    case "model_replied": return event.body.text ?? (event.body.calls ?? []).map((c) => c.name).join(", ");
    case "model_failed": return `${event.body.code}: ${event.body.message}`;
    case "tool_started": return `${event.body.tool} ${text(event.body.shown ?? event.body.args)}`;
    case "tool_progress": return `${event.body.tool}: ${event.body.note}`;
    case "tool_returned": return event.body.duplicate ? `same as ${event.body.duplicate}` : text(event.body.result);
    case "tool_failed": return `${event.body.code}: ${event.body.message}, ${event.body.tries_left} tries left`;
    case "tool_refused": return `${event.body.code}: ${event.body.message}`;
    case "artifact_made": return `${event.body.name}, ${event.body.bytes} bytes`;
    case "card_raised": return `${event.body.title}: ${(event.body.answers ?? []).map((a) => a.label).join(", ")}`;
    case "card_answered": return `answered ${event.body.answer}`;
    case "card_closed": return `closed: ${event.body.cause}`;
    case "step_done": return `done ${event.body.state}`;
    case "turn_interrupted": return event.body.last ? "interrupted for the last time" : "interrupted";
    case "limit_reached": return `${event.body.code}: ${event.body.used} of ${event.body.limit}`;
    case "figures_traced": return `${(event.body.figures ?? []).length} figures`;
    case "artifacts_removed": return `removed ${(event.body.artifacts ?? []).join(", ")}`;
    case "thread_migrated": return `from version ${event.body.from} to ${event.body.to}`;
    case "thread_renamed": return `renamed to ${event.body.title}`;
    case "turn_ended": return `${badge[event.body.status]} after ${event.body.ms} ms`;
    default: return unread(event);
  }
}

const badge: Record<Outcome, string> = {
  answered: "answered", asked: "asked back", declined: "declined", refused: "refused", failed: "failed", stopped: "stopped", limited: "cut short",
};

const text = (value: Value): string => JSON.stringify(value);

/** unread takes no event of a known kind: a kind that has no case does not compile. */
function unread(event: never): string { return `unknown event ${String(event)}`; }

/** What must not compile: each line below is an error, or the check fails. */
export function wrong(event: Event, kind: Kind): void {
  // @ts-expect-error a kind that does not exist
  if (kind === "no_such_kind") return;
  // @ts-expect-error a body is known only when its kind is
  void event.body.message;
  if (event.kind === "tool_started") {
    // @ts-expect-error no one of the closed set
    void (event.body.by === "nobody");
    // @ts-expect-error a field of another body
    void event.body.tries_left;
  }
  // @ts-expect-error kinds without a case are left
  if (event.kind !== "token") unread(event);
}
