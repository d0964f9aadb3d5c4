// Package machine is machines as data: load a definition, prove it, choose where
// a turn begins, say what follows from an event, draw the graph. It is pure: no
// clock, no I/O but the reading of definition files, no machine known by name.
package machine

// A Machine is an immutable definition. It is made by Load, which refuses one
// with errors, and is safe for concurrent use.
type Machine struct {
	Name, Title string
	Hash        string            // of all its files: the version a thread is pinned to
	Files       map[string]string // definition and prompts, as loaded; Parse makes the same machine of them

	Settings []*Setting
	Types    map[string]*Type
	Facts    []*Fact
	Discover []*Step
	Start    Start
	States   []*State // in the order of the file
	Base     *Template
	Ground   *Template
	Tools    map[string]*Binding // bound arguments, narrowed arguments, cards
	Go       []*Transition       // shared, tried after a state's own
	Calls    map[string]string   // tool -> state
	Effects  []*Effect
	Cards    map[string]*Card
	Commands []*Command
	Show     map[string]*Show
	Short    []*Shortcut
	Text     []*TextCall
	Reply    []Assign
	Outcome  *Expr // nil = by the log
	History  History
	Policies Policies
	Errors   Errors
	Limits   Limits

	facts  map[string]*Fact
	states map[string]*State
	places map[string]Pos // of names that no struct holds
}

// Pos is a place in a definition.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"column,omitempty"`
}

// A Setting is a switch or slider of the machine.
type Setting struct {
	Name, Label string
	Type        *Type
	Default     any
	Min, Max    *float64
	Step        *float64
	Pos         Pos
}

// Kind of a type.
type Kind string

// The kinds of types.
const (
	String Kind = "string"
	Int    Kind = "int"
	Float  Kind = "float"
	Bool   Kind = "bool"
	Time   Kind = "time" // RFC 3339 text
	JSON   Kind = "json" // anything
	List   Kind = "list"
	Enum   Kind = "enum"
	Record Kind = "record"
)

// A Type is the type of a fact, setting, card field or model output.
type Type struct {
	Kind   Kind
	Name   string           // of a named type
	Of     *Type            // element of a list
	Values []string         // of an enum
	Fields map[string]*Type // of a record; every field may be unset
	Order  []string         // its fields in the order of the file
}

// A Fact is a named, typed value of a thread.
type Fact struct {
	Name    string
	Type    *Type
	Turn    bool  // falls back to its default at each new turn
	Person  bool  // only a card answer or a command may write it
	Default any   // nil = unset
	Is      *Expr // computed, never written
	Max     int   // a list keeps its newest; 0 = no bound
	Pos     Pos
}

// An Expr is a guard or value: an expression over facts, settings, event, turn and
// state. A literal in the file is an Expr that gives it.
type Expr struct {
	Source string
	Pos    Pos
	code   *program // expr.go
}

// Start says where a turn begins.
type Start struct {
	Stands  bool      // where the thread stands; the first state at the first turn
	Choices []*Choice // else the first that holds
	Pos     Pos
}

// A Choice is one line of `start`.
type Choice struct {
	When *Expr
	To   string
	Set  Writes
	Pos  Pos
}

// StateKind is what a state does.
type StateKind string

// The kinds of states.
const (
	Agent StateKind = "agent" // model and tools in a loop
	StepK StateKind = "step"  // a tool, a list of tools, or one model call with a schema
	Ask   StateKind = "ask"   // waits for the person
	Pass  StateKind = "pass"  // only moves on
	Final StateKind = "final" // ends the run after its own step
)

// A State is one state of the machine.
type State struct {
	Name     string
	Kind     StateKind
	Terminal bool
	Requires []Predicate
	Offers   []*Offer
	Prompt   []*Section
	Inject   []*Inject
	Run      []*Alternative // of step and final
	In       []Assign       // of step, final and ask
	Out      []Out
	Card     string // of ask
	Go       []*Transition
	Errors   *Errors // nil = the machine's
	Limits   *Limits // nil = the machine's
	Complete *Expr
	Data     []Assign // what the state is about, for people who look at it
	Model    string   // a model of its own; "" = the thread's
	// Reasoning is how much the model thinks before it answers; nil = the model's default.
	Reasoning *Reasoning
	// Note is what the model is told where it is asked again after a text of its own; nil = to go on.
	Note *Template
	Pos  Pos
}

// A Predicate is what a state requires: Fact set, Fact == true, or len(Fact) >= Len.
type Predicate struct {
	Fact   string
	IsTrue bool
	Len    int // > 0: a list of at least so many
	Source string
	Pos    Pos
}

// Approval is when a person must allow a call.
type Approval string

// The approvals. The empty one is `tainted` for tools that reach outside, else never.
const (
	ApproveAlways  Approval = "always"
	ApproveTainted Approval = "tainted"
	ApproveNever   Approval = "never"
)

// An Offer is a tool of a state: by name, or those listed in a fact.
type Offer struct {
	Tool    string
	From    string // a fact: list of records with name, description, schema, read_only
	When    *Expr
	Approve Approval
	// BySettings says that When looks at settings only: off means FEATURE_DISABLED.
	BySettings bool
	Pos        Pos
}

// A Section is a prompt file with a guard.
type Section struct {
	Text *Template
	When *Expr
}

// A Template is Markdown with {{ expressions }}.
type Template struct {
	File  string
	parts []part // template.go
}

// An Inject puts a fact or value into the prompt, cut to size.
type Inject struct {
	Fact, Title string
	Value       *Expr
	Rows        *Expr // nil = whole
	Chars       *Expr
	Of          *Expr  // the true total
	More        string // the tool that shows the rest
	When        *Expr
	Pos         Pos
}

// An Alternative is one way to do the work of a step; the first whose When holds.
type Alternative struct {
	When  *Expr
	Steps []*Step // one, or the list of `steps:`
	Pos   Pos
}

// A Step is one tool call or model call of a step state or of discover.
type Step struct {
	When  *Expr
	Tool  string
	Model *ModelStep
	In    []Assign // already joined with the state's
	Out   []Out    // already joined with the state's
	Stop  *Expr
	Pos   Pos
}

// A ModelStep is one model call with a schema.
type ModelStep struct {
	Prompt *Template
	Output *Type
}

// An Assign gives a name or path an expression.
type Assign struct {
	Name string // for facts a path: "metrics.row_count"
	Expr *Expr
	Pos  Pos
}

// An Out maps a path of a result to a fact path.
type Out struct {
	Fact string // path
	From string // path into the result
	Pos  Pos
}

// Writes change facts: drop, keep, set, append, increment, in this order.
type Writes struct {
	Drop      []string
	Keep      []Assign
	Set       []Assign
	Append    []Assign
	Increment []Assign
	dropAt    map[string]Pos // where each name of Drop stands
}

// A Transition leads from a state to another.
type Transition struct {
	From    []string // of a shared one; nil with Any
	Any     bool     // from: any
	On      []string // events; nil = the state kind's own
	Tool    []string
	Card    []string
	Command []string
	When    *Expr
	To      []string // one; several only with call and planned
	Writes  Writes
	Rest    bool
	Pos     Pos
}

// Errors is how often a tool may fail in a turn and what follows.
type Errors struct {
	Failures int    // 0 = 3
	Skip     string // the state to skip to; "" = inform_user
	Pos      Pos
}

// Limits bound a turn. Zero = the default.
type Limits struct {
	Iterations *Expr // 25
	Seconds    *Expr // 300
	Tokens     *Expr // 200,000
	Dollars    *Expr // 1
}

// Reasoning is how much a model that can think does so: by a word or by tokens.
type Reasoning struct {
	Effort *Expr // one of Efforts
	Budget *Expr // tokens
}

// Efforts are the words for how much a model thinks, in rising order.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// A Binding is what the machine adds to a tool.
type Binding struct {
	Tool string
	In   []Assign // hidden from the model
	Args map[string]*Narrow
	Card string // raised when it returned
	Pos  Pos
}

// Narrow limits an argument to values, or gives it a default.
type Narrow struct {
	Enum    *Expr
	Default *Expr
}

// An Effect changes facts on an event without moving.
type Effect struct {
	On      []string
	Tool    []string
	Card    []string
	Command []string
	State   []string
	When    *Expr
	Writes  Writes
	Pos     Pos
}

// A Command is what the person may ask outside cards.
type Command struct {
	Name, Label string
	From        []string // states; nil = any
	When        *Expr
	Fields      []Field
	To          string
	Writes      Writes
	Pos         Pos
}

// Show says who sees which part of a result. A nil list with All false is none.
type Show struct {
	PersonAll, ModelAll bool
	Person, Model       []string
	PersonWhen          *Expr
}

// A Shortcut runs a tool for a message with a prefix, without a model, or says why this
// machine runs none for it.
type Shortcut struct {
	Prefix string
	Tool   string
	Say    string // instead of Tool
	In     []Assign
	// When must hold, else the call is refused. BySettings says that it looks at
	// settings only: off means FEATURE_DISABLED.
	When       *Expr
	BySettings bool
	Pos        Pos
}

// A TextCall is a fenced block that counts as a call.
type TextCall struct {
	Fence, Tool, Argument string
	States                []string
	Pos                   Pos
}

// History is how much of the past goes to the model.
type History struct {
	Messages  *Expr // 12
	ToolTurns *Expr // 1
	// ResultChars bounds each result of an earlier turn; nil is whole.
	ResultChars *Expr
	Beside      []Assign
}

// Policies are what every machine gets from the engine unless switched off.
type Policies struct {
	Duplicates   bool
	AcrossTurns  bool // identical calls of earlier turns count too; on by default
	RerunWords   []string
	Inventory    bool
	InventoryMax *Expr // 30
	Repair       bool
	EmptyRetries int // 1
	Origins      bool
}

// Fact returns a fact by name, nil if there is none.
func (m *Machine) Fact(name string) *Fact { return m.facts[name] }

// State returns a state by name, nil if there is none.
func (m *Machine) State(name string) *State { return m.states[name] }

// Command returns a command by name, nil if there is none.
func (m *Machine) Command(name string) *Command {
	for _, c := range m.Commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Answer returns an answer of a card by name, nil if there is none.
func (c *Card) Answer(name string) *Answer {
	for _, a := range c.Answers {
		if a.Name == name {
			return a
		}
	}
	return nil
}
