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
  thought: Thought;
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
  figures_traced: FiguresTraced;
  turn_ended: TurnEnded;
  artifacts_removed: ArtifactsRemoved;
  thread_migrated: ThreadMigrated;
  thread_renamed: ThreadRenamed;
}

export type Outcome =
  | "answered"
  | "asked" // with a question to the person
  | "declined" // with the reason why there is no answer
  | "refused" // by a policy
  | "failed"
  | "stopped" // by the person
  | "limited" // a limit of the turn was reached

export type Support =
  | "cell"
  | "formula"
  | "document"
  | "question"
  | "statement"
  | "size"
  | "mixed"
  | "stated"
  | "contradicted"
  | "weak"
  | "none"

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

/** Origin is the last event of the parent that a fork shares. */
export interface Origin {
  thread: string;
  seq: number;
  /** of the fork */
  time?: Time;
}

/** TurnStarted begins a run: the person sent a message, a command or a call. */
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
  /** tokens that it reads, where that is known */
  context?: number;
}

/** PersonCalled is a tool call that the person makes, without a model. Its arguments are computed after the dataset, settings and facts of the turn were applied. A shortcut may have a text instead of a call, which says why the machine does not make it. */
export interface PersonCalled {
  tool?: string;
  args?: Value;
  say?: string;
  by: "shortcut" | "direct";
  /** the shortcut's guard does not hold: the call is refused */
  denied?: Denial;
}

/** CommandGiven is a command of the person, with the facts that it dropped. */
export interface CommandGiven {
  command: string;
  user?: string;
  fields?: Record<string, Json>;
  dropped?: string[];
}

/** FactsChanged changes facts. Nothing else does. */
export interface FactsChanged {
  /** whole new values, by fact */
  set?: Record<string, Value>;
  dropped?: string[];
  /** e.g. "effect returned execute_sql", "out describe_tables" */
  cause: string;
  /** Problems are writes that were left out because they did not fit the type of the fact. */
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
  /** the values that the guard saw */
  saw?: Record<string, Json>;
  /** the turn ends here */
  rest?: boolean;
}

/** ModelCalled is stored before a model is called. The exact request can be rebuilt: system prompt, tools and history are blobs, the rest is the log of the turn. */
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
  /** of the model call in its run, counted from 1 */
  number: number;
  /** Note is what the engine tells the model at the end of the conversation, such as that the calls of the turn are nearly used up. */
  note?: string;
  /** Reasoning is how much the model was asked to think; nil leaves it to the model. */
  reasoning?: Reasoning;
}

/** StepAt names a step of a step state: the alternative and the index of the step in it. */
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

/** Token is a piece of the text that the model is streaming; transient. */
export interface Token {
  call: string;
  text: string;
}

/** Thought is a piece of what a model thinks before it answers; transient. */
export interface Thought {
  call: string;
  text: string;
}

/** Reasoning says how much a model thinks before it answers. */
export interface Reasoning {
  effort?: string;
  /** tokens */
  budget?: number;
}

/** ModelReplied is the whole reply of a model. What it thought is for people who look; no later request holds it. */
export interface ModelReplied {
  call: string;
  model: string;
  thoughts?: string;
  text?: string;
  calls?: ModelCall[];
  stop?: string;
  usage: Usage;
  ms: number;
  /** Unsupported are figures of the text that no result, document or word of the person gives. */
  unsupported?: string[];
}

/** ModelCall is a tool call as the model made it. Args is the JSON that it sent; if that was not JSON, Args is the text as a JSON string. */
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
  /** of the output, tokens that were thoughts */
  reasoning?: number;
  micro_usd?: number;
}

/** ModelFailed ends a model call without a reply, after all retries. */
export interface ModelFailed {
  call: string;
  code: Code;
  message: string;
  suggestion?: string;
  /** of all attempts, as far as the provider counted them */
  usage?: Usage;
  ms: number;
}

/** ToolStarted is stored before a tool runs. */
export interface ToolStarted {
  call: string;
  tool: string;
  /** with the arguments that the machine binds */
  args: Value;
  /** what the model sent, normalised; shown to people */
  shown?: Value;
  state?: string;
  by: "model" | "step" | "discover" | "shortcut" | "direct";
  /** hash of tool, arguments and version */
  identity?: string;
  /** of the data that the call reads */
  version?: string;
  /** what argument repair did */
  rescued?: string[];
  /** who allowed the call, if approval was needed */
  approved?: string;
  /** hash of the declaration of a tool found at run time */
  declared?: string;
  /** in a step state; Index alone for discover */
  step?: StepAt;
}

/** Show is the part of a result that an audience sees: all, the named fields, or nothing. */
export interface Show {
  all?: boolean;
  fields?: string[];
}

/** ToolReturned is the result of a call that succeeded, or of a duplicate. */
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
  /** of a duplicate: of the data that the call reads */
  version?: string;
  reason?: Code;
  taints?: boolean;
  /** an equal call may give another result, so this one is not reused */
  volatile?: boolean;
  /** the statement, if the result is its rows */
  ran?: Ran;
  ms: number;
}

/** Ran is the statement that gave a result, as it ran. */
export interface Ran {
  dataset?: string;
  /** of the dataset */
  version?: string;
  /** without the limit of rows that was added to it */
  sql: string;
  /** that limit; 0 if there was none */
  max_rows?: number;
  /** Frames are the earlier results that the statement read as tables. */
  frames?: Frame[];
  /** Lineage says what feeds each column of the result, in order. */
  lineage?: Lineage[];
}

/** Frame is the stored rows of an earlier call, under the name by which later calls know them. */
export interface Frame {
  name: string;
  result_id: string;
  /** that the rows were fetched from */
  dataset_id?: string;
}

/** ToolFailed is the result of a call that failed. */
export interface ToolFailed {
  call: string;
  tool: string;
  /** of a call that never started */
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

/** ToolRefused is the result of a call that was not allowed to run. */
export interface ToolRefused {
  call: string;
  tool: string;
  args?: Value;
  state?: string;
  code: Code;
  message: string;
  hint?: string;
  /** the guard that does not hold */
  when?: string;
  saw?: Record<string, Json>;
}

/** ToolProgress is a note of a running tool; transient. */
export interface ToolProgress {
  call: string;
  tool: string;
  note: string;
  /** set if the note is output of a program */
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
  /** an equal one existed */
  reused?: boolean;
  /** Reason is duplicate_artifact_prevented where an equal one existed. */
  reason?: Code;
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
  /** the answer that a plain message counts as */
  message?: string;
  state: string;
  /** the tool call that raised the card or waits for its answer */
  call?: string;
  /** Declared is the hash of the declaration of the found tool that is to be approved: approval for the thread ends when the declaration changes. */
  declared?: string;
}

/** CardChoice is one answer that a card takes. */
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
  /** the plain message that was the answer */
  text?: string;
  user?: string;
  /** Settings are changed from this event on. */
  settings?: Record<string, Json>;
}

/** CardClosed ends a card that nobody answered. */
export interface CardClosed {
  card: string;
  cause: string;
}

/** StepDone is stored when the work of a step state or final state is done. */
export interface StepDone {
  state: string;
  /** ended early by `stop` */
  stopped?: boolean;
}

/** TurnInterrupted is stored when a process continues a turn whose process has died. The turn goes on from its last finished step, and the time since then does not count. */
export interface TurnInterrupted {
  run: string;
  /** the turn was interrupted too often and ends */
  last?: boolean;
}

/** LimitReached ends a turn that reached one of its limits. */
export interface LimitReached {
  code: Code;
  limit: number;
  used: number;
}

/** FiguresTraced says where the numbers in the answer of a turn come from. It is stored right before the end of the turn if the answer has numbers and the machine's `policies.origins` is on. Tables are named by the call whose result they are, followed by their place in it. */
export interface FiguresTraced {
  run: string;
  /** in the order of the text */
  figures: Figure[] | null;
  /** figures without an origin */
  unsupported: number;
  /** figures that may fit by chance */
  weak: number;
  /** Contradicted counts figures beside a direction or a name that their cells deny. */
  contradicted?: number;
  /** a bound left figures or evidence out */
  cut?: boolean;
  /** Rules is the version of the rules by which they were traced. A replay under other rules repeats what is recorded here. */
  rules?: number;
}

/** TurnEnded is the last event of a run. */
export interface TurnEnded {
  run: string;
  /** answered, asked, declined, refused, failed, stopped, limited */
  status: Outcome;
  code?: Code;
  /** the final answer */
  text?: string;
  /** the fields of the machine's `reply:` */
  reply?: Value;
  state: string;
  usage: Usage;
  /** model calls, tool calls, failures, rescues, duplicates */
  counts?: Record<string, number>;
  ms: number;
}

/** ArtifactsRemoved says that stored outputs were removed to free space. They are not listed any more, and a call that made one runs again when it is asked for. */
export interface ArtifactsRemoved {
  /** ids; every version is gone */
  artifacts: string[] | null;
}

/** ThreadMigrated moves a thread to another version of its machine. The turns after it run under that version. */
export interface ThreadMigrated {
  /** hash of the definition until now */
  from: string;
  /** hash of the definition from now on; a blob holds it */
  to: string;
  user?: string;
  /** Settings are the settings of the thread that the new version has, too. */
  settings?: Record<string, Json>;
}

/** ThreadRenamed gives a thread another title. It changes nothing of what the thread knows. */
export interface ThreadRenamed {
  title: string;
  user?: string;
}

/** An envelope is the JSON form of an event. */
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

/** A Figure is a number in an answer and its origin. */
export interface Figure {
  /** in bytes of the answer */
  start: number;
  end: number;
  text: string;
  support: Support;
  /** that it was read from or computed of, at most a few */
  cells?: Cell[];
  /** how it follows from them, such as sum(amount) */
  formula?: string;
  /** the document, or the table that was counted */
  source?: string;
  /** Factors are the numbers of the statement or the code with which a mixed figure was computed. */
  factors?: string[];
  /** Denies is the word of a contradicted figure that its cells deny, such as rose, or the name of a row that is not theirs. */
  denies?: string;
}

/** A Cell is a place in a table. */
export interface Cell {
  table: string;
  /** from 0 */
  row: number;
  column: string;
}

/** A Lineage says what feeds a column of a result: what of the data, and which numbers that stand in the statement itself. */
export interface Lineage {
  /** "*" stands for all columns that have no entry of their own */
  column: string;
  /** Reads are the columns of tables that its values come from, as table.column; a table alone stands for its rows, which are counted. Without any, the statement made the column of constants. */
  reads?: string[];
  /** Constants are numbers of the statement that may come out as they are. */
  constants?: string[];
  /** Factors are numbers of the statement with which its values are computed, but for factors and divisors that change a unit, such as 100, and the whole of 1 - share. */
  factors?: string[];
}
