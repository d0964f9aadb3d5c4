// A thread as the page shows it, folded from its events. Everything on the page comes
// from the same events, whether they are an hour old or happen now.

import type { ArtifactMade, Bodies, CardAnswered, CardRaised, Denial, Event, Json, Outcome, Ran, StateEntered, ToolFailed, ToolRefused, Usage } from "../../../types/events";

/** A ToolCall is one call of a tool, from its start to its one result. */
export class ToolCall {
  readonly kind = "tool";
  status = $state<"running" | "done" | "duplicate" | "failed" | "refused">("running");
  note = $state("");
  printed = $state("");
  ms = $state(0);
  artifacts = $state<ArtifactMade[]>([]);
  /** What the machine shows to people; undefined where the result went to the model alone. */
  result = $state.raw<Json | undefined>();
  /** What the model is told of it; undefined where that is nothing. */
  told = $state.raw<Json | undefined>();
  failure = $state.raw<ToolFailed | undefined>();
  refusal = $state.raw<ToolRefused | undefined>();
  ran = $state.raw<Ran | undefined>();
  reason = $state("");
  approved = "";
  rescued: string[] = [];
  /** The event that ended it, 0 while it runs. */
  endSeq = $state(0);

  constructor(readonly call: string, readonly tool: string, readonly args: Record<string, Json>, readonly run: string, readonly by: string, readonly seq: number, readonly time: string) {}

  /** The statement that the call ran, as SQL. */
  get sql(): string {
    const compiled = (this.result as { compiled_sql?: string } | undefined)?.compiled_sql;
    const given = this.args.sql;
    return this.ran?.sql ?? compiled ?? (typeof given === "string" ? given : "");
  }

  get python(): string {
    const given = this.args.python_code ?? this.args.code;
    return typeof given === "string" ? given : "";
  }

  /** What the call printed, each under its label. */
  get outputs(): { label: string; text: string }[] {
    const told = (this.failure?.details ?? this.result) as { stdout?: string; stderr?: string } | null | undefined;
    return [{ label: "Printed", text: told?.stdout ?? this.printed }, { label: "Printed as errors", text: told?.stderr ?? "" }].filter((o) => o.text.trim());
  }
}

/** A ModelCall is one call of the model: what it was offered, what it said. */
export class ModelCall {
  readonly kind = "model";
  text = $state("");
  thoughts = $state("");
  whole = $state(false);
  calls = $state<string[]>([]);
  usage = $state.raw<Usage | undefined>();
  model = $state("");
  ms = $state(0);
  failure = $state.raw<Bodies["model_failed"] | undefined>();

  /** The event that ended it, 0 while it runs. */
  endSeq = $state(0);

  constructor(readonly call: string, readonly state: string, readonly offered: string[], readonly denied: Denial[], readonly number: number, readonly seq: number, readonly time: string) {}
}

/** A Move is a state that the machine entered. */
export class Move {
  readonly kind = "move";
  constructor(readonly entered: StateEntered, readonly seq: number, readonly time: string) {}
}

/** A Question is a card: the machine asks the person and waits. */
export class Question {
  readonly kind = "card";
  answered = $state.raw<CardAnswered | undefined>();
  closed = $state("");
  constructor(readonly raised: CardRaised, readonly seq: number, readonly time: string) {}

  get open() {
    return !this.answered && !this.closed;
  }
}

/** A Note is a sentence about the run itself. */
export class Note {
  readonly kind = "note";
  constructor(readonly text: string, readonly tone: "quiet" | "warn" | "bad" = "quiet") {}
}

/** Facts are changes of what the machine knows. */
export class Facts {
  readonly kind = "facts";
  constructor(readonly changed: Bodies["facts_changed"], readonly seq: number) {}
}

export type Step = ToolCall | ModelCall | Move | Question | Note | Facts;

/** A Turn is what happens from a message of the person until the thread waits for the next one. */
export class Turn {
  steps = $state<Step[]>([]);
  text = $state("");
  ended = $state.raw<Bodies["turn_ended"] | undefined>();
  endSeq = $state(0);
  running = $state(true);
  model = $state("");
  command = $state("");
  artifacts = $state<ArtifactMade[]>([]);
  /** Where the figures of the answer come from, if the machine asked for it. */
  traced = $state.raw<Bodies["figures_traced"] | undefined>();

  constructor(readonly run: string, readonly seq: number, readonly time: string) {}

  get outcome(): Outcome | "running" | "waiting" {
    return this.ended?.status ?? (this.running ? "running" : "waiting");
  }

  get tools() {
    return this.steps.filter((s): s is ToolCall => s.kind === "tool");
  }

  get models() {
    return this.steps.filter((s): s is ModelCall => s.kind === "model");
  }

  get moves() {
    return this.steps.filter((s): s is Move => s.kind === "move");
  }

  get cards() {
    return this.steps.filter((s): s is Question => s.kind === "card");
  }

  /** The answer, or the text in progress. */
  get answer(): string {
    if (this.ended?.text) return this.ended.text;
    const last = this.models.at(-1);
    return last && !last.calls.length ? last.text : "";
  }

  get usage(): Usage {
    const sum: Usage = { input: 0, output: 0, micro_usd: 0 };
    for (const m of this.models) {
      sum.input += m.usage?.input ?? 0;
      sum.output += m.usage?.output ?? 0;
      sum.micro_usd! += m.usage?.micro_usd ?? 0;
    }
    return sum;
  }
}

/** A ThreadLog folds the events of one thread. */
export class ThreadLog {
  machine = $state("");
  title = $state("");
  dataset = $state("");
  turns = $state<Turn[]>([]);
  running = $state(false);
  parent = $state.raw<Bodies["thread_opened"]["parent"]>();
  /** The sequence number of the last event. */
  seq = $state(0);
  /** The event before which others are missing: a long thread is opened at its end. 0 once all are there. */
  missing = $state(0);

  #tools = new Map<string, ToolCall>();
  #models = new Map<string, ModelCall>();
  #cards = new Map<string, Question>();
  #asked = new Map<string, Json>(); // arguments as the model made them

  /** changed is called when state, status or card may have changed. */
  constructor(readonly changed: (ended: boolean) => void = () => {}) {}

  get openCard(): Question | undefined {
    return this.turns.at(-1)?.cards.findLast((c) => c.open);
  }

  /** forgetPartial drops the text and the output in progress: they will be told from their beginning. */
  forgetPartial() {
    for (const m of this.#models.values()) if (!m.whole) m.text = m.thoughts = "";
    for (const t of this.#tools.values()) if (t.status === "running") t.printed = "";
  }

  /** addEarlier puts what happened before in front. */
  addEarlier(earlier: ThreadLog) {
    this.turns.unshift(...earlier.turns);
    this.missing = 0;
  }

  apply(event: Event) {
    if (event.seq) {
      if (this.seq === 1 && event.seq > 2) this.missing = event.seq;
      this.seq = event.seq;
    }
    const fold = this[event.kind as keyof ThreadLog] as unknown as ((body: unknown, event: Event) => void) | undefined;
    fold?.call(this, event.body, event);
  }

  get #turn(): Turn {
    return this.turns.at(-1) ?? this.turns[this.turns.push(new Turn("", 0, "")) - 1];
  }

  thread_opened(b: Bodies["thread_opened"]) {
    this.machine = b.machine;
    this.title = b.title ?? "";
    this.dataset = b.dataset ?? "";
    this.parent = b.parent;
  }

  turn_started(b: Bodies["turn_started"], event: Event) {
    const turn = new Turn(b.run, event.seq ?? 0, event.time);
    turn.text = b.text ?? "";
    turn.model = b.model ?? "";
    if (b.dataset) this.dataset = b.dataset;
    this.turns.push(turn);
    this.running = true;
    this.changed(false);
  }

  command_given(b: Bodies["command_given"]) {
    this.#turn.command = b.command;
    if (b.dropped?.length) this.#turn.steps.push(new Note("Dropped: " + b.dropped.map((f) => f.replaceAll("_", " ")).join(", ")));
  }

  turn_interrupted(b: Bodies["turn_interrupted"]) {
    this.#turn.steps.push(new Note("The server was restarted; the turn " + (b.last ? "was interrupted too often and ends." : "goes on from its last finished step."), "warn"));
  }

  facts_changed(b: Bodies["facts_changed"], event: Event) {
    this.#turn.steps.push(new Facts(b, event.seq ?? 0));
  }

  state_entered(b: StateEntered, event: Event) {
    this.#turn.steps.push(new Move(b, event.seq ?? 0, event.time));
    this.changed(false);
  }

  model_called(b: Bodies["model_called"], event: Event) {
    const model = new ModelCall(b.call, b.state, b.offered ?? [], b.denied ?? [], b.number, event.seq ?? 0, event.time);
    this.#models.set(b.call, model);
    this.#turn.steps.push(model);
  }

  token(b: Bodies["token"]) {
    const model = this.#models.get(b.call);
    if (model && !model.whole) model.text += b.text;
  }

  thought(b: Bodies["thought"]) {
    const model = this.#models.get(b.call);
    if (model && !model.whole) model.thoughts += b.text;
  }

  model_replied(b: Bodies["model_replied"], event: Event) {
    for (const call of b.calls ?? []) this.#asked.set(call.id, call.args);
    const model = this.#models.get(b.call);
    if (!model) return;
    model.text = b.text ?? "";
    model.thoughts = b.thoughts ?? "";
    model.calls = (b.calls ?? []).map((c) => c.name);
    model.usage = b.usage;
    model.model = b.model;
    model.ms = b.ms;
    model.whole = true;
    model.endSeq = event.seq ?? 0;
    if (b.model) this.#turn.model = b.model;
  }

  model_failed(b: Bodies["model_failed"], event: Event) {
    const model = this.#models.get(b.call);
    if (!model) return;
    model.failure = b;
    model.endSeq = event.seq ?? 0;
    model.whole = true;
    model.ms = b.ms;
  }

  // call finds the call of an event, or begins it: duplicates and refusals never started.
  #call(b: { call: string; tool: string }, args: Json | undefined, event: Event, by = "model"): ToolCall {
    const known = this.#tools.get(b.call);
    if (known) return known;
    const given = this.#asked.get(b.call) ?? args;
    const call = new ToolCall(b.call, b.tool, given && typeof given === "object" && !Array.isArray(given) ? given : {}, this.#turn.run, by, event.seq ?? 0, event.time);
    this.#tools.set(b.call, call);
    this.#turn.steps.push(call);
    return call;
  }

  tool_started(b: Bodies["tool_started"], event: Event) {
    const call = this.#call(b, b.shown ?? b.args, event, b.by);
    call.approved = b.approved ?? "";
    call.rescued = b.rescued ?? [];
  }

  tool_progress(b: Bodies["tool_progress"]) {
    const call = this.#tools.get(b.call);
    if (!call) return;
    if (b.stream) call.printed += b.note;
    else call.note = b.note;
  }

  tool_returned(b: Bodies["tool_returned"], event: Event) {
    const call = this.#call(b, b.args, event);
    call.endSeq = event.seq ?? 0;
    call.status = b.duplicate ? "duplicate" : "done";
    call.result = shownPart(b.result, b.person);
    call.told = shownPart(b.result, b.model);
    call.ran = b.ran;
    call.reason = b.reason ?? "";
    call.ms = b.ms;
  }

  tool_failed(b: ToolFailed, event: Event) {
    const call = this.#call(b, b.args, event);
    call.endSeq = event.seq ?? 0;
    call.status = "failed";
    call.failure = b;
    call.ms = b.ms;
  }

  tool_refused(b: ToolRefused, event: Event) {
    const call = this.#call(b, b.args, event);
    call.endSeq = event.seq ?? 0;
    call.status = "refused";
    call.refusal = b;
  }

  artifact_made(b: ArtifactMade) {
    const call = this.#tools.get(b.source_call_id);
    (call ?? this.#turn).artifacts.push(b);
  }

  card_raised(b: CardRaised, event: Event) {
    const card = new Question(b, event.seq ?? 0, event.time);
    this.#cards.set(b.card, card);
    this.#turn.steps.push(card);
    this.#rest();
  }

  card_answered(b: CardAnswered) {
    const card = this.#cards.get(b.card);
    if (card) card.answered = b;
    this.#turn.running = true;
    this.running = true;
    this.changed(false);
  }

  card_closed(b: Bodies["card_closed"]) {
    const card = this.#cards.get(b.card);
    if (card) card.closed = b.cause;
  }

  limit_reached(b: Bodies["limit_reached"]) {
    this.#turn.steps.push(new Note(`Limit reached: ${b.code.replaceAll("_", " ").toLowerCase()} (${b.used} of ${b.limit})`, "warn"));
  }

  figures_traced(b: Bodies["figures_traced"]) {
    this.#turn.traced = b;
  }

  turn_ended(b: Bodies["turn_ended"], event: Event) {
    this.#turn.ended = b;
    this.#turn.endSeq = event.seq ?? 0;
    this.#rest();
  }

  #rest() {
    this.#turn.running = false;
    this.running = false;
    this.changed(true);
  }
}

// shownPart is the part of a result that the machine shows to people, or to the model.
function shownPart(result: Json | undefined, show: Bodies["tool_returned"]["person"]): Json | undefined {
  if (show?.all) return result;
  const fields = show?.fields ?? [];
  if (!fields.length || typeof result !== "object" || result === null || Array.isArray(result)) return undefined;
  const shown = fields.includes("columns") ? [...fields, "column_types"] : fields; // types say how to write the columns
  return Object.fromEntries(shown.filter((f) => f in result).map((f) => [f, result[f]]));
}
