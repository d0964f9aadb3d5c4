package engine

import (
	"encoding/json"
	"slices"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
)

// turnFold is the present turn, or the last one.
type turnFold struct {
	Run, User, Text, Dataset, Model string
	Attachments                     []string
	Rerun                           bool
	Direct                          *event.PersonCalled // the one call of a turn without a model
	Started                         time.Time
	First, Last                     int64

	Discovered int  // discover steps dealt with
	Placed     bool // the state was chosen
	Rest       bool // the last move said that the turn ends there
	Visits     map[string]int
	Moves      int

	Calling  *event.ModelCalled // a model call without its reply
	Pending  []event.ModelCall  // calls of the last reply that have no result yet
	Running  *event.ToolStarted // a tool call without its result
	Card     *event.CardRaised
	Cards    int
	Answered *answered // the card that was last answered
	ranAt    time.Time // when the running tool or model call began

	CallReplies int                // replies with calls
	Batch       int                // calls of the last reply
	Done        *event.ToolStarted // the call that was last dealt with
	FailureOpen bool               // the model failed and nothing followed yet
	Final       string             // the last text without a call
	FinalSaid   bool
	FinalStop   string        // how the model ended its last text
	DirectEnded event.Outcome // of the person's own call, where it did not return
	Said        string        // text of the last reply
	ModelFailed *event.ModelFailed
	BadOutput   int // answers of this model step that did not fit
	Step        *event.StepAt
	StepResult  event.Value // of the last step that ran in this state
	StepRan     bool        // a step of this state has ended
	StepFailed  bool        // the last step of this state failed
	StepsDone   bool
	StepSaid    string
	StepLines   []line // answers of this model step that did not fit, and why

	Interrupted int  // how often its process died
	GivenUp     bool // it is not tried again

	Failures map[string]int // by tool
	Empty    map[string]int // empty calls sent back, by tool
	Used     event.Usage
	Calls    int // tool calls numbered so far
	Models   int // model calls
	WaitFrom time.Time
	Waited   time.Duration
	Counts   map[string]int
	Lines    []line
	Ended    event.Outcome
	told     []llm.Message // the person's text and Lines as the model gets them, made as needed
	opening  *llm.Message
	started  string
	history  string // blob of the past that goes along with every call of this turn
}

// line is one entry of the turn's conversation with the model, in stored form.
type line struct {
	Role   string            // assistant, tool, user
	Text   string            `json:",omitempty"`
	Calls  []event.ModelCall `json:",omitempty"`
	Call   string            `json:",omitempty"`
	Tool   string            `json:",omitempty"`
	Failed bool              `json:",omitempty"`
	Result event.Value       `json:",omitzero"` // of a tool, whole
	Show   event.Show        // the part the model sees
	Answer *answerLine       `json:",omitempty"` // of the card that the call raised
	Reason string            `json:",omitempty"`
}

// resolve fetches the large values of a line.
func (l *line) resolve(fetch func(event.Value) (event.Value, error)) (err error) {
	if l.Result, err = fetch(l.Result); err != nil {
		return err
	}
	for i := range l.Calls {
		if l.Calls[i].Args, err = fetch(l.Calls[i].Args); err != nil {
			return err
		}
	}
	return nil
}

// answered is a card with its answer.
type answered struct {
	Card event.CardRaised
	event.CardAnswered
}

// answerLine is what a person answered to the card of a call.
type answerLine struct {
	Answer string         `json:"answer"`
	Fields map[string]any `json:"fields,omitempty"`
	Note   string         `json:"note,omitempty"`
}

// toolCalls is the count of calls that started.
const toolCalls = "tool_calls"

func (t *turnFold) count(what string) { t.Counts[what]++ }

func (t *turnFold) enter(b event.StateEntered) {
	if t == nil {
		return
	}
	t.Placed, t.Rest = true, b.Rest
	t.Visits[b.To]++
	t.Moves++
	t.Step, t.StepRan, t.StepFailed, t.StepsDone, t.BadOutput, t.StepLines = nil, false, false, false, 0, nil
	t.StepResult = event.Value{}
	t.FinalSaid, t.FailureOpen = false, false
}

func (t *turnFold) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.PersonCalled:
		t.Direct = &b
		if b.Tool == "" {
			return
		}
		t.Calls = 1
		t.Pending = []event.ModelCall{{ID: callID(t.Run, 1), Name: b.Tool, Args: b.Args}}
	case event.ModelCalled:
		t.Calling, t.ranAt = &b, e.Time
		t.Models++
		t.ModelFailed, t.FinalSaid, t.FailureOpen = nil, false, false
		if b.Step != nil {
			t.Step, t.StepRan = b.Step, false
		}
	case event.ModelReplied:
		t.replied(b)
	case event.ModelFailed:
		t.Calling = nil
		t.ModelFailed, t.FailureOpen = &b, true
		t.count("model_failures")
		if b.Code == fault.ModelBadOutput && t.Step != nil {
			t.StepRan = false
			t.BadOutput++
			t.StepLines = append(t.StepLines, line{Role: "assistant", Text: t.StepSaid}, line{Role: "user", Text: b.Message})
		}
	case event.ToolStarted:
		t.Running, t.ranAt = &b, e.Time
		t.count(toolCalls)
		for _, kind := range b.Rescued {
			t.count("rescued_" + kind)
		}
		if b.Step != nil && b.By == byStep {
			if t.Step != nil && t.Step.Alt != b.Step.Alt { // done another way, without the model that failed
				t.ModelFailed, t.FailureOpen = nil, false
			}
			t.Step, t.StepRan = b.Step, false
		}
		if b.Step != nil && b.By == byDiscover {
			t.Discovered = b.Step.Index
		}
	case event.ToolFailed:
		t.failed(b)
	case event.ToolRefused:
		t.count("refused")
		if t.Direct != nil {
			t.DirectEnded = event.Refused
		}
		t.resolve(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Failed: true, Show: event.Show{All: true}, Result: event.From(map[string]any{
			"error": b.Code, "message": b.Message, "hint": b.Hint,
		})})
	case event.StepDone:
		t.StepsDone = true
	}
}

func (t *turnFold) replied(b event.ModelReplied) {
	inStep := t.Calling != nil && t.Calling.Output != ""
	t.Calling = nil
	t.ModelFailed = nil
	t.Used.Input += b.Usage.Input
	t.Used.Output += b.Usage.Output
	t.Used.CacheRead += b.Usage.CacheRead
	t.Used.CacheWrite += b.Usage.CacheWrite
	t.Used.MicroUSD += b.Usage.MicroUSD
	if inStep {
		t.StepRan, t.StepSaid = true, b.Text
		if json.Valid([]byte(b.Text)) {
			t.StepResult = event.Of(json.RawMessage(b.Text))
		}
		return
	}
	t.Said = b.Text
	t.Lines = append(t.Lines, line{Role: "assistant", Text: b.Text, Calls: b.Calls})
	t.Pending = slices.Clone(b.Calls)
	t.Calls += len(b.Calls)
	t.Batch = len(b.Calls)
	if t.Batch > 0 {
		t.CallReplies++
	}
	if len(b.Calls) == 0 {
		t.Final, t.FinalSaid, t.FinalStop = b.Text, true, b.Stop
	}
}

func (t *turnFold) returned(b event.ToolReturned) {
	if s := t.Running; s != nil && s.Call == b.Call {
		if s.By == byDiscover {
			t.Discovered = s.Step.Index + 1
		}
		if s.By == byStep {
			t.StepResult, t.StepRan = b.Result, true
		}
	}
	if b.Duplicate != "" {
		t.count("duplicates")
	}
	t.resolve(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Result: b.Result, Show: b.Model, Reason: string(b.Reason)})
}

func (t *turnFold) failed(b event.ToolFailed) {
	if s := t.Running; s != nil && s.Call == b.Call {
		if s.By == byDiscover {
			t.Discovered = s.Step.Index + 1
		}
		if s.By == byStep {
			t.StepRan, t.StepFailed = true, true
		}
	}
	if t.Direct != nil {
		t.DirectEnded = callOutcome(b.Code)
	}
	t.count("failures")
	t.Failures[b.Tool]++
	if b.Code == fault.EmptyPythonRetried {
		t.Failures[b.Tool]-- // sent back once, not counted against the tool
		t.Empty[b.Tool]++
	}
	told := map[string]any{"error": b.Code, "message": b.Message, "tries_left": b.TriesLeft}
	if b.Suggestion != "" {
		told["suggestion"] = b.Suggestion
	}
	if b.Hint != "" {
		told["hint"] = b.Hint
	}
	if !b.Details.IsZero() && b.Details.JSON != nil {
		told["details"] = b.Details.JSON
	}
	t.resolve(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Failed: true, Result: event.From(told), Show: event.Show{All: true}})
}

// resolve ends a call: it leaves the pending ones, and if the model made it, the
// model is told the result.
func (t *turnFold) resolve(call string, l line) {
	t.Done = nil
	if t.Running != nil && t.Running.Call == call {
		t.Done, t.Running = t.Running, nil
	}
	i := slices.IndexFunc(t.Pending, func(c event.ModelCall) bool { return c.ID == call })
	if i < 0 {
		return
	}
	t.Pending = slices.Delete(slices.Clone(t.Pending), i, i+1)
	t.Lines = append(t.Lines, l)
}

func (t *turnFold) raise(e event.Event, b event.CardRaised) {
	t.Card, t.WaitFrom = &b, e.Time
	t.Cards++
}

func (t *turnFold) answer(e event.Event, b event.CardAnswered) {
	card := t.Card
	t.resume(e)
	if card == nil {
		return
	}
	t.Answered = &answered{Card: *card, CardAnswered: b}
	if card.Call == "" || card.Name == approvalCard {
		return
	}
	for i := range t.Lines {
		if t.Lines[i].Call == card.Call {
			t.Lines[i].Answer = &answerLine{b.Answer, b.Fields, b.Note}
			t.told = t.told[:min(i+1, len(t.told))] // the opening comes before the lines
		}
	}
}

func (t *turnFold) closeCard(e event.Event) { t.resume(e) }

func (t *turnFold) resume(e event.Event) {
	if t == nil || t.Card == nil {
		return
	}
	t.Card = nil
	t.Waited += e.Time.Sub(t.WaitFrom)
}

func (t *turnFold) toolOf(call string) string {
	if i := slices.IndexFunc(t.Pending, func(c event.ModelCall) bool { return c.ID == call }); i >= 0 {
		return t.Pending[i].Name
	}
	return ""
}

// dropWork forgets what a turn that has ended needs no more: what is left of it is the
// same in memory and in a snapshot.
func (t *turnFold) dropWork() {
	t.Direct, t.Calling, t.Pending, t.Running, t.Card, t.Answered, t.Done = nil, nil, nil, nil, nil, nil, nil
	t.Lines, t.StepLines, t.StepResult, t.ModelFailed = nil, nil, event.Value{}, nil
	t.told, t.opening = nil, nil
}

// interrupted leaves out the time in which no process ran the turn: it counts neither
// against the turn nor for the call that was under way.
func (t *turnFold) interrupted(b event.TurnInterrupted, lost time.Duration) {
	if t != nil {
		t.Interrupted++
		t.GivenUp = b.Last
		t.Waited += lost
		t.ranAt = t.ranAt.Add(lost)
	}
}

// startedText is Started as guards see it, written once.
func (t *turnFold) startedText() string {
	if t.started == "" {
		t.started = t.Started.Format(time.RFC3339Nano)
	}
	return t.started
}

// elapsed is the time of the turn so far, less the time it waited for a person or a
// process.
func (t *turnFold) elapsed(now time.Time) time.Duration { return now.Sub(t.Started) - t.Waited }
