package event

import (
	"time"

	"interlock/internal/fault"
	"interlock/internal/figure"
	"interlock/internal/schema"
)

// ThreadOpened is the first event of every thread.
type ThreadOpened struct {
	Owner    string         `json:"owner"`
	Machine  string         `json:"machine"`
	Version  string         `json:"version"` // hash of the definition; a blob holds it
	Title    string         `json:"title,omitempty"`
	Dataset  string         `json:"dataset,omitempty"`
	Settings map[string]any `json:"settings,omitempty"` // those that differ from the defaults
	Parent   *Origin        `json:"parent,omitempty"`   // of a fork
}

// Origin is the last event of the parent that a fork shares.
type Origin struct {
	Thread string    `json:"thread"`
	Seq    int64     `json:"seq"`
	Time   time.Time `json:"time,omitzero"` // of the fork
}

// TurnStarted begins a run: the person sent a message, a command or a call.
type TurnStarted struct {
	Run         string         `json:"run"`
	User        string         `json:"user,omitempty"`
	Text        string         `json:"text,omitempty"`
	Dataset     string         `json:"dataset,omitempty"`
	Attachments []string       `json:"attachments,omitempty"`
	Rerun       bool           `json:"rerun,omitempty"`    // identical calls may run again in this turn
	Settings    map[string]any `json:"settings,omitempty"` // changed from this turn on
	Model       string         `json:"model,omitempty"`    // the model of the turn, for guards
	Context     int            `json:"context,omitempty"`  // tokens that it reads, where that is known
}

// PersonCalled is a tool call that the person makes, without a model. Its arguments are
// computed after the dataset, settings and facts of the turn were applied. A shortcut may
// have a text instead of a call, which says why the machine does not make it.
type PersonCalled struct {
	Tool   string  `json:"tool,omitempty"`
	Args   Value   `json:"args,omitzero"`
	Say    string  `json:"say,omitempty"`
	By     string  `json:"by" enum:"shortcut,direct"`
	Denied *Denial `json:"denied,omitempty"` // the shortcut's guard does not hold: the call is refused
}

// CommandGiven is a command of the person, with the facts that it dropped.
type CommandGiven struct {
	Command string         `json:"command"`
	User    string         `json:"user,omitempty"`
	Fields  map[string]any `json:"fields,omitempty"`
	Dropped []string       `json:"dropped,omitempty"`
}

// FactsChanged changes facts. Nothing else does.
type FactsChanged struct {
	Set     map[string]Value `json:"set,omitempty"` // whole new values, by fact
	Dropped []string         `json:"dropped,omitempty"`
	Cause   string           `json:"cause"` // e.g. "effect returned execute_sql", "out describe_tables"
	// Problems are writes that were left out because they did not fit the type of the fact.
	Problems []string `json:"problems,omitempty"`
}

// StateEntered is a move of the machine.
type StateEntered struct {
	From  string         `json:"from,omitempty"`
	To    string         `json:"to"`
	Cause string         `json:"cause"`          // the event: "start", "returned list_sources", "call run_sql" ...
	When  string         `json:"when,omitempty"` // the guard that held
	Saw   map[string]any `json:"saw,omitempty"`  // the values that the guard saw
	Rest  bool           `json:"rest,omitempty"` // the turn ends here
}

// ModelCalled is stored before a model is called. The exact request can be rebuilt: system
// prompt, tools and history are blobs, the rest is the log of the turn.
type ModelCalled struct {
	Call    string   `json:"call"`
	State   string   `json:"state"`
	Model   string   `json:"model"`
	System  string   `json:"system"`            // blob
	Tools   string   `json:"tools,omitempty"`   // blob
	History string   `json:"history,omitempty"` // blob
	Offered []string `json:"offered,omitempty"`
	Denied  []Denial `json:"denied,omitempty"`
	Output  string   `json:"output,omitempty"` // schema of a model step, blob
	Step    *StepAt  `json:"step,omitempty"`   // in a step state
	Number  int      `json:"number"`           // of the model call in its run, counted from 1
	// Note is what the engine tells the model at the end of the conversation, such as that
	// the calls of the turn are nearly used up.
	Note string `json:"note,omitempty"`
	// Reasoning is how much the model was asked to think; nil leaves it to the model.
	Reasoning *Reasoning `json:"reasoning,omitempty"`
}

// StepAt names a step of a step state: the alternative and the index of the step in it.
type StepAt struct {
	Alt   int `json:"alt"`
	Index int `json:"index"`
}

// Denial is a tool that the state names but does not offer now, with the reason.
type Denial struct {
	Tool string         `json:"tool"`
	Code fault.Code     `json:"code"`
	When string         `json:"when,omitempty"` // the guard that does not hold
	Saw  map[string]any `json:"saw,omitempty"`
}

// Token is a piece of the text that the model is streaming; transient.
type Token struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// Thought is a piece of what a model thinks before it answers; transient.
type Thought struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// Reasoning says how much a model thinks before it answers.
type Reasoning struct {
	Effort string `json:"effort,omitempty"`
	Budget int    `json:"budget,omitempty"` // tokens
}

// ModelReplied is the whole reply of a model. What it thought is for people who look; no
// later request holds it.
type ModelReplied struct {
	Call     string      `json:"call"`
	Model    string      `json:"model"`
	Thoughts string      `json:"thoughts,omitempty"`
	Text     string      `json:"text,omitempty"`
	Calls    []ModelCall `json:"calls,omitempty"`
	Stop     string      `json:"stop,omitempty"`
	Usage    Usage       `json:"usage"`
	MS       int64       `json:"ms"`
	// Unsupported are figures of the text that no result, document or word of the person gives.
	Unsupported []string `json:"unsupported,omitempty"`
}

// ModelCall is a tool call as the model made it. Args is the JSON that it sent; if that
// was not JSON, Args is the text as a JSON string.
type ModelCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args Value  `json:"args"`
}

// Usage counts tokens and money.
type Usage struct {
	Input      int   `json:"input"`
	Output     int   `json:"output"`
	CacheRead  int   `json:"cache_read,omitempty"`
	CacheWrite int   `json:"cache_write,omitempty"`
	Reasoning  int   `json:"reasoning,omitempty"` // of the output, tokens that were thoughts
	MicroUSD   int64 `json:"micro_usd,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning, MicroUSD: u.MicroUSD + v.MicroUSD,
	}
}

// ModelFailed ends a model call without a reply, after all retries.
type ModelFailed struct {
	Call       string     `json:"call"`
	Code       fault.Code `json:"code"`
	Message    string     `json:"message"`
	Suggestion string     `json:"suggestion,omitempty"`
	Usage      Usage      `json:"usage,omitzero"` // of all attempts, as far as the provider counted them
	MS         int64      `json:"ms"`
}

// ToolStarted is stored before a tool runs.
type ToolStarted struct {
	Call     string   `json:"call"`
	Tool     string   `json:"tool"`
	Args     Value    `json:"args"`           // with the arguments that the machine binds
	Shown    Value    `json:"shown,omitzero"` // what the model sent, normalised; shown to people
	State    string   `json:"state,omitempty"`
	By       string   `json:"by" enum:"model,step,discover,shortcut,direct"`
	Identity string   `json:"identity,omitempty"` // hash of tool, arguments and version
	Version  string   `json:"version,omitempty"`  // of the data that the call reads
	Rescued  []string `json:"rescued,omitempty"`  // what argument repair did
	Approved string   `json:"approved,omitempty"` // who allowed the call, if approval was needed
	Declared string   `json:"declared,omitempty"` // hash of the declaration of a tool found at run time
	Step     *StepAt  `json:"step,omitempty"`     // in a step state; Index alone for discover
}

// Show is the part of a result that an audience sees: all, the named fields, or nothing.
type Show struct {
	All    bool     `json:"all,omitempty"`
	Fields []string `json:"fields,omitempty"`
}

// ToolReturned is the result of a call that succeeded, or of a duplicate.
type ToolReturned struct {
	Call      string     `json:"call"`
	Tool      string     `json:"tool"`
	Args      Value      `json:"args,omitzero"` // of a duplicate, which never started
	Result    Value      `json:"result"`
	Person    Show       `json:"person"`
	Model     Show       `json:"model"`
	Duplicate string     `json:"duplicate,omitempty"` // the call whose result this is
	Version   string     `json:"version,omitempty"`   // of a duplicate: of the data that the call reads
	Reason    fault.Code `json:"reason,omitempty"`
	Taints    bool       `json:"taints,omitempty"`
	Volatile  bool       `json:"volatile,omitempty"` // an equal call may give another result, so this one is not reused
	Ran       *Ran       `json:"ran,omitempty"`      // the statement, if the result is its rows
	MS        int64      `json:"ms"`
}

// Ran is the statement that gave a result, as it ran.
type Ran struct {
	Dataset string `json:"dataset,omitempty"`
	Version string `json:"version,omitempty"`  // of the dataset
	SQL     string `json:"sql"`                // without the limit of rows that was added to it
	MaxRows int    `json:"max_rows,omitempty"` // that limit; 0 if there was none
	// Frames are the earlier results that the statement read as tables.
	Frames []Frame `json:"frames,omitempty"`
	// Lineage says what feeds each column of the result, in order.
	Lineage []schema.Lineage `json:"lineage,omitempty"`
}

// Frame is the stored rows of an earlier call, under the name by which later calls know them.
type Frame struct {
	Name     string `json:"name"`
	ResultID string `json:"result_id"`
	Dataset  string `json:"dataset_id,omitempty"` // that the rows were fetched from
}

// ToolFailed is the result of a call that failed.
type ToolFailed struct {
	Call       string     `json:"call"`
	Tool       string     `json:"tool"`
	Args       Value      `json:"args,omitzero"` // of a call that never started
	Code       fault.Code `json:"code"`
	Message    string     `json:"message"`
	Suggestion string     `json:"suggestion,omitempty"`
	Hint       string     `json:"hint,omitempty"` // for the model
	Details    Value      `json:"details,omitzero"`
	Curable    bool       `json:"curable,omitempty"`
	TriesLeft  int        `json:"tries_left"`
	MS         int64      `json:"ms"`
}

// ToolRefused is the result of a call that was not allowed to run.
type ToolRefused struct {
	Call    string         `json:"call"`
	Tool    string         `json:"tool"`
	Args    Value          `json:"args,omitzero"`
	State   string         `json:"state,omitempty"`
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	When    string         `json:"when,omitempty"` // the guard that does not hold
	Saw     map[string]any `json:"saw,omitempty"`
}

// ToolProgress is a note of a running tool; transient.
type ToolProgress struct {
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Note   string `json:"note"`
	Stream string `json:"stream,omitempty" enum:"stdout,stderr"` // set if the note is output of a program
}

// ArtifactMade is an output that a tool stored.
type ArtifactMade struct {
	ID         string    `json:"artifact_id"`
	Name       string    `json:"name"`
	Type       string    `json:"type"` // csv, parquet, png ...
	MIME       string    `json:"mime"`
	Bytes      int64     `json:"bytes"`
	Call       string    `json:"source_call_id"`
	Producer   string    `json:"producer"` // sql, python, ...
	LogicalKey string    `json:"logical_key,omitempty"`
	Version    int       `json:"version"`
	CreatedAt  time.Time `json:"created_at"`
	Reused     bool      `json:"reused,omitempty"` // an equal one existed
	// Reason is duplicate_artifact_prevented where an equal one existed.
	Reason fault.Code `json:"reason,omitempty"`
}

// CardRaised asks the person and suspends the run.
type CardRaised struct {
	Card    string       `json:"card"` // its id
	Name    string       `json:"name"` // the machine's name for it, or "approval"
	Title   string       `json:"title"`
	Content Value        `json:"content"`
	Answers []CardChoice `json:"answers"`
	Message string       `json:"message,omitempty"` // the answer that a plain message counts as
	State   string       `json:"state"`
	Call    string       `json:"call,omitempty"` // the tool call that raised the card or waits for its answer
	// Declared is the hash of the declaration of the found tool that is to be approved:
	// approval for the thread ends when the declaration changes.
	Declared string `json:"declared,omitempty"`
}

// CardChoice is one answer that a card takes.
type CardChoice struct {
	Name   string            `json:"name"`
	Label  string            `json:"label"`
	Key    string            `json:"key,omitempty"`
	Fields map[string]string `json:"fields,omitempty"` // name -> type
}

// CardAnswered is the person's answer; it resumes the run.
type CardAnswered struct {
	Card   string         `json:"card"`
	Answer string         `json:"answer"`
	Fields map[string]any `json:"fields,omitempty"`
	Note   string         `json:"note,omitempty"`
	Text   string         `json:"text,omitempty"` // the plain message that was the answer
	User   string         `json:"user,omitempty"`
	// Settings are changed from this event on.
	Settings map[string]any `json:"settings,omitempty"`
}

// CardClosed ends a card that nobody answered.
type CardClosed struct {
	Card  string `json:"card"`
	Cause string `json:"cause"`
}

// StepDone is stored when the work of a step state or final state is done.
type StepDone struct {
	State   string `json:"state"`
	Stopped bool   `json:"stopped,omitempty"` // ended early by `stop`
}

// TurnInterrupted is stored when a process continues a turn whose process has died. The
// turn goes on from its last finished step, and the time since then does not count.
type TurnInterrupted struct {
	Run  string `json:"run"`
	Last bool   `json:"last,omitempty"` // the turn was interrupted too often and ends
}

// LimitReached ends a turn that reached one of its limits.
type LimitReached struct {
	Code  fault.Code `json:"code"`
	Limit float64    `json:"limit"`
	Used  float64    `json:"used"`
}

// FiguresTraced says where the numbers in the answer of a turn come from. It is stored
// right before the end of the turn if the answer has numbers and the machine's
// `policies.origins` is on. Tables are named by the call whose result they are, followed by
// their place in it.
type FiguresTraced struct {
	Run         string          `json:"run"`
	Figures     []figure.Figure `json:"figures"`     // in the order of the text
	Unsupported int             `json:"unsupported"` // figures without an origin
	Weak        int             `json:"weak"`        // figures that may fit by chance
	// Contradicted counts figures beside a direction or a name that their cells deny.
	Contradicted int  `json:"contradicted,omitempty"`
	Cut          bool `json:"cut,omitempty"` // a bound left figures or evidence out
	// Rules is the version of the rules by which they were traced. A replay under other
	// rules repeats what is recorded here.
	Rules int `json:"rules,omitempty"`
}

// TurnEnded is the last event of a run.
type TurnEnded struct {
	Run    string         `json:"run"`
	Status Outcome        `json:"status"` // answered, asked, declined, refused, failed, stopped, limited
	Code   fault.Code     `json:"code,omitempty"`
	Text   string         `json:"text,omitempty"` // the final answer
	Reply  Value          `json:"reply,omitzero"` // the fields of the machine's `reply:`
	State  string         `json:"state"`
	Usage  Usage          `json:"usage"`
	Counts map[string]int `json:"counts,omitempty"` // model calls, tool calls, failures, rescues, duplicates
	MS     int64          `json:"ms"`
}

// ArtifactsRemoved says that stored outputs were removed to free space. They are not listed
// any more, and a call that made one runs again when it is asked for.
type ArtifactsRemoved struct {
	Artifacts []string `json:"artifacts"` // ids; every version is gone
}

// ThreadMigrated moves a thread to another version of its machine. The turns after it run
// under that version.
type ThreadMigrated struct {
	From string `json:"from"` // hash of the definition until now
	To   string `json:"to"`   // hash of the definition from now on; a blob holds it
	User string `json:"user,omitempty"`
	// Settings are the settings of the thread that the new version has, too.
	Settings map[string]any `json:"settings,omitempty"`
}

// ThreadRenamed gives a thread another title. It changes nothing of what the thread knows.
type ThreadRenamed struct {
	Title string `json:"title"`
	User  string `json:"user,omitempty"`
}
