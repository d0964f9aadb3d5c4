// The events of a thread, as GET /api/threads/{id}/events sends them: the name of each
// server-sent event is its kind and its data an Event. A stream that cannot go on ends
// with an event named "error", whose data is a Fault.
//
// Made of internal/event/body.go by go generate ./internal/event; do not edit.

/** Any JSON. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON value inside an event; clients get it whole, whatever its size. */
export type Value = Json;

/** A code of /api/codes. */
export type Code = string;

/** A moment as RFC 3339 writes it. */
export type Time = string;

/** An event of any kind: a switch over its kind narrows its body. */
export type Event = { [K in Kind]: Envelope<K> }[Kind];

/** The names of all kinds. */
export type Kind = keyof Bodies;

/** The body of each kind. */
export interface Bodies {
  thread_opened: ThreadOpened;
  turn_started: TurnStarted;
  person_called: PersonCalled;
  command_given: CommandGiven;
  facts_changed: FactsChanged;
  state_entered: StateEntered;
  model_called: ModelCalled;
  token: Token;
  model_replied: ModelReplied;
  model_failed: ModelFailed;
  tool_started: ToolStarted;
  tool_returned: ToolReturned;
  tool_failed: ToolFailed;
  tool_refused: ToolRefused;
  tool_progress: ToolProgress;
  artifact_made: ArtifactMade;
  card_raised: CardRaised;
  card_answered: CardAnswered;
  card_closed: CardClosed;
  step_done: StepDone;
  turn_interrupted: TurnInterrupted;
  limit_reached: LimitReached;
  turn_ended: TurnEnded;
}

export type Outcome =
  | "answered"
  | "asked" // with a question to the person
  | "declined" // with the reason why there is no answer
  | "refused" // by a policy
  | "failed"
  | "stopped" // by the person
  | "limited" // a limit of the turn was reached

/** ThreadOpened is the first event of every thread. */
export interface ThreadOpened {
  owner: string;
  machine: string;
  /** hash of the definition; a blob holds it */
  version: string;
  title?: string;
  dataset?: string;
  /** those that differ from the defaults */
  settings?: Record<string, Json>;
  /** of a fork */
  parent?: Origin;
}

/** Origin is where a fork left its parent. */
export interface Origin {
  thread: string;
  seq: number;
}

/** TurnStarted begins a run: the person said something or gave a command. */
export interface TurnStarted {
  run: string;
  user?: string;
  text?: string;
  dataset?: string;
  attachments?: string[];
  /** identical calls may run again in this turn */
  rerun?: boolean;
  /** changed from this turn on */
  settings?: Record<string, Json>;
  /** the model of the turn, for guards */
  model?: string;
}

/** PersonCalled is the one call that the person makes in this turn, without a model. Its arguments are worked out after what the turn brought along (dataset, settings, facts) was applied. A shortcut may say a text instead: why the machine makes no such call. */
export interface PersonCalled {
  tool?: string;
  args?: Value;
  say?: string;
  by: "shortcut" | "direct";
  /** the shortcut's guard does not hold: the call is refused */
  denied?: Denial;
}

/** CommandGiven is a command of the person, with what it took away. */
export interface CommandGiven {
  command: string;
  user?: string;
  fields?: Record<string, Json>;
  dropped?: string[];
}

/** FactsChanged is the only way in which facts change. */
export interface FactsChanged {
  /** whole new values, by fact */
  set?: Record<string, Value>;
  dropped?: string[];
  /** e.g. "effect returned execute_sql", "out describe_tables" */
  cause: string;
  /** Problems are writes that did not fit the fact's type and were left out. */
  problems?: string[];
}

/** StateEntered is a move of the machine. */
export interface StateEntered {
  from?: string;
  to: string;
  /** the event: "start", "returned list_sources", "call run_sql" ... */
  cause: string;
  /** the guard that held */
  when?: string;
  /** the values it held for */
  saw?: Record<string, Json>;
  /** the turn ends here */
  rest?: boolean;
}

/** ModelCalled says what the model was given. The exact request can be rebuilt: system prompt, tools and history are blobs, the rest is this turn's log. */
export interface ModelCalled {
  call: string;
  state: string;
  model: string;
  /** blob */
  system: string;
  /** blob */
  tools?: string;
  /** blob */
  history?: string;
  offered?: string[];
  denied?: Denial[];
  /** schema of a model step, blob */
  output?: string;
  /** in a step state */
  step?: StepAt;
  /** of the model call in its run, from 1 */
  number: number;
}

/** StepAt is a place in the work of a step state: which alternative, which step. */
export interface StepAt {
  alt: number;
  index: number;
}

/** Denial is a tool that the state names but does not offer now, with the reason. */
export interface Denial {
  tool: string;
  code: Code;
  /** the guard that does not hold */
  when?: string;
  saw?: Record<string, Json>;
}

/** Token is a piece of the model's text on its way; transient. */
export interface Token {
  call: string;
  text: string;
}

/** ModelReplied is a whole reply. */
export interface ModelReplied {
  call: string;
  model: string;
  text?: string;
  calls?: ModelCall[];
  stop?: string;
  usage: Usage;
  ms: number;
}

/** ModelCall is a tool call as the model made it. Args is its JSON text, or, where the model sent what is no JSON, that text as a JSON string. */
export interface ModelCall {
  id: string;
  name: string;
  args: Value;
}

/** Usage counts tokens and money. */
export interface Usage {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  micro_usd?: number;
}

/** ModelFailed ends a model call without a reply, after all retries. */
export interface ModelFailed {
  call: string;
  code: Code;
  message: string;
  suggestion?: string;
  ms: number;
}

/** ToolStarted is stored before a tool runs. */
export interface ToolStarted {
  call: string;
  tool: string;
  /** whole, with bound arguments */
  args: Value;
  /** what the model sent, normalised: what people see */
  shown?: Value;
  state?: string;
  by: "model" | "step" | "discover" | "shortcut" | "direct";
  /** hash of tool, arguments and version */
  identity?: string;
  /** of what the call reads beside its arguments */
  version?: string;
  /** what argument repair did */
  rescued?: string[];
  /** by whom, where approval was needed */
  approved?: string;
  /** in a step state; Index alone for discover */
  step?: StepAt;
}

/** Show says which part of a result goes to whom. Nil fields with All false means none. */
export interface Show {
  all?: boolean;
  fields?: string[];
}

/** ToolReturned is the one result of a call that worked, or of a duplicate. */
export interface ToolReturned {
  call: string;
  tool: string;
  /** of a duplicate, which never started */
  args?: Value;
  result: Value;
  person: Show;
  model: Show;
  /** the call whose result this is */
  duplicate?: string;
  /** of a duplicate: of what the call reads */
  version?: string;
  reason?: Code;
  taints?: boolean;
  /** an equal call may give another result: this one answers no other */
  volatile?: boolean;
  /** what gave the result, where it is rows of a statement */
  ran?: Ran;
  ms: number;
}

/** Ran is the statement that gave a result, as it ran. */
export interface Ran {
  dataset?: string;
  /** of the dataset */
  version?: string;
  /** without a limit of rows that was put around it */
  sql: string;
  /** that limit; 0 if there was none */
  max_rows?: number;
}

/** ToolFailed is the one result of a call that failed. */
export interface ToolFailed {
  call: string;
  tool: string;
  /** where it never started */
  args?: Value;
  code: Code;
  message: string;
  suggestion?: string;
  /** for the model */
  hint?: string;
  details?: Value;
  curable?: boolean;
  tries_left: number;
  ms: number;
}

/** ToolRefused is the one result of a call that was not allowed to run. */
export interface ToolRefused {
  call: string;
  tool: string;
  args?: Value;
  state?: string;
  code: Code;
  message: string;
  hint?: string;
  /** the guard in the way */
  when?: string;
  saw?: Record<string, Json>;
}

/** ToolProgress is a sign of life of a running tool; transient. */
export interface ToolProgress {
  call: string;
  tool: string;
  note: string;
  /** where the note is what a program printed */
  stream?: "stdout" | "stderr";
}

/** ArtifactMade is an output that a tool stored. */
export interface ArtifactMade {
  artifact_id: string;
  name: string;
  /** csv, parquet, png ... */
  type: string;
  mime: string;
  bytes: number;
  source_call_id: string;
  /** sql, python, ... */
  producer: string;
  logical_key?: string;
  version: number;
  created_at: Time;
  /** an equal one existed: duplicate_artifact_prevented */
  reused?: boolean;
}

/** CardRaised asks the person and suspends the run. */
export interface CardRaised {
  /** its id */
  card: string;
  /** the machine's name for it, or "approval" */
  name: string;
  title: string;
  content: Value;
  answers: CardChoice[] | null;
  /** the answer a plain message counts as */
  message?: string;
  state: string;
  /** the tool call that raised it or waits for it */
  call?: string;
}

/** CardChoice is one answer a card takes. */
export interface CardChoice {
  name: string;
  label: string;
  key?: string;
  /** name -> type */
  fields?: Record<string, string>;
}

/** CardAnswered is the person's answer; it resumes the run. */
export interface CardAnswered {
  card: string;
  answer: string;
  fields?: Record<string, Json>;
  note?: string;
  /** where a plain message was the answer */
  text?: string;
  user?: string;
  /** Settings are changed from here on. */
  settings?: Record<string, Json>;
}

/** CardClosed ends a card that nobody answered. */
export interface CardClosed {
  card: string;
  cause: string;
}

/** StepDone is the end of a step state's or final state's work. */
export interface StepDone {
  state: string;
  /** left early by `stop` */
  stopped?: boolean;
}

/** TurnInterrupted is written when a process finds that another one died in the middle of this turn; the turn goes on from its last finished step, and the time since then does not count. */
export interface TurnInterrupted {
  run: string;
  /** it was interrupted too often: it ends */
  last?: boolean;
}

/** LimitReached ends a turn that used something up. */
export interface LimitReached {
  code: Code;
  limit: number;
  used: number;
}

/** TurnEnded is the last event of a run. */
export interface TurnEnded {
  run: string;
  /** answered, asked, declined, refused, failed, stopped, limited */
  status: Outcome;
  code?: Code;
  /** the final answer */
  text?: string;
  /** what the machine's `reply:` says */
  reply?: Value;
  state: string;
  usage: Usage;
  /** model calls, tool calls, failures, rescues, duplicates */
  counts?: Record<string, number>;
  ms: number;
}

/** An envelope is an event on the wire: the kind beside the body. */
export interface Envelope<K extends Kind> {
  thread?: string;
  /** absent of a transient event */
  seq?: number;
  time: Time;
  kind: K;
  body: Bodies[K];
}

/** A Fault is an error that a person or a model must be able to act on. */
export interface Fault {
  error: Code;
  message: string;
  suggestion?: string;
  details?: Json;
}
