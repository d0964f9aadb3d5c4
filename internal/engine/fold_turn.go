package engine

import (
	"maps"
	"slices"
	"time"

	"interlock/internal/event"
	"interlock/internal/llm"
)

// turnFold is the present turn, or the last one: its phase, and what outlives a phase.
type turnFold struct {
	Run, User, Text, Dataset, Model string
	Attachments                     []string
	Rerun                           bool
	Started                         time.Time
	First, Last                     int64

	Phase  phase               `json:"-"` // a snapshot is made between turns: it has ended
	Direct *event.PersonCalled // the one call of a turn without a model

	Said        string             // text of the last reply
	Final       string             // the last text without a call
	FinalStop   string             // how the model ended it
	DirectEnded event.Outcome      // of the person's own call, where it did not return
	ModelFailed *event.ModelFailed // the last model call, if it failed
	Ended       event.Outcome

	Visits      map[string]int // of states; copied when it changes, as Failures
	Failures    map[string]int // by tool
	SentBack    map[string]int // calls without their main argument, by tool
	Counts      map[string]int
	Moves       int
	Cards       int
	CallReplies int // replies with calls
	Calls       int // tool calls numbered so far
	Models      int // model calls
	Interrupted int // how often its process died
	Used        event.Usage
	Waited      time.Duration // for the person, or for a process

	Lines []line // the conversation with the model
	Reply replyFold

	waitFrom time.Time     // when the open card was raised
	jobFrom  time.Duration // the turn's time when the running tool or model call began
	told     []llm.Message // the person's text and Lines as the model gets them, made as needed
	opening  *llm.Message
	started  string // Started as guards see it
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

	told string // what the model is told of a large result of an earlier turn, which is not in memory
}

// resolve fetches the large values of a line.
func (l *line) resolve(fetch func(event.Value) (event.Value, error)) (err error) {
	if l.Result, err = fetch(l.Result); err != nil {
		return err
	}
	return l.resolveArgs(fetch)
}

func (l *line) resolveArgs(fetch func(event.Value) (event.Value, error)) (err error) {
	for i := range l.Calls {
		if l.Calls[i].Args, err = fetch(l.Calls[i].Args); err != nil {
			return err
		}
	}
	return nil
}

// answerLine is what a person answered to the card of a call.
type answerLine struct {
	Answer string         `json:"answer"`
	Fields map[string]any `json:"fields,omitempty"`
	Note   string         `json:"note,omitempty"`
}

// toolCalls is the count of calls that started.
const toolCalls = "tool_calls"

func newTurnFold(e event.Event, b event.TurnStarted, dataset string) *turnFold {
	t := &turnFold{
		Run: b.Run, User: b.User, Text: b.Text, Dataset: dataset, Attachments: b.Attachments, Rerun: b.Rerun, Model: b.Model,
		Started: e.Time, First: e.Seq, Counts: map[string]int{}, Phase: nextPhase(nil, b),
	}
	t.started = t.Started.Format(time.RFC3339Nano)
	return t
}

func (t *turnFold) count(what string) { t.Counts[what]++ }

// apply adds one event of the turn. idle is the time since the event before it.
func (t *turnFold) apply(e event.Event, idle time.Duration) {
	switch b := e.Body.(type) {
	case event.PersonCalled:
		t.Direct = &b
		if b.Tool != "" {
			t.Calls = 1
		}
	case event.StateEntered:
		t.Visits = added(t.Visits, b.To)
		t.Moves++
	case event.ModelCalled:
		t.jobFrom = t.elapsed(e.Time)
		t.Models++
		t.ModelFailed = nil
	case event.ModelReplied:
		t.addReply(b)
	case event.ModelFailed:
		t.ModelFailed = &b
		t.count("model_failures")
	case event.ToolStarted:
		t.addStart(e, b)
	case event.ToolReturned:
		if b.Duplicate != "" {
			t.count("duplicates")
		}
		t.addResult(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Result: b.Result, Show: b.Model, Reason: string(b.Reason)})
	case event.ToolFailed:
		t.addFailure(b)
	case event.ToolRefused:
		t.count("refused")
		if t.Direct != nil {
			t.DirectEnded = event.Refused
		}
		t.addResult(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Failed: true, Show: event.Show{All: true}, Result: event.From(map[string]any{
			"error": b.Code, "message": b.Message, "hint": b.Hint,
		})})
	case event.CardRaised:
		t.Cards++
		t.waitFrom = e.Time
	case event.CardAnswered:
		t.addAnswer(b)
		t.stopWaiting(e)
	case event.CardClosed:
		t.stopWaiting(e)
	case event.TurnInterrupted:
		// The time in which no process ran the turn counts neither against the turn nor
		// for the call that was under way.
		t.Interrupted++
		t.Waited += idle
	case event.TurnEnded:
		t.Ended, t.Last = b.Status, e.Seq
	}
	t.Reply.apply(e.Body)
	t.Phase = nextPhase(t.Phase, e.Body)
}

// added is a copy of counts with one more of a name: whoever has the old map may go on
// reading it.
func added(counts map[string]int, name string) map[string]int {
	out := make(map[string]int, len(counts)+1)
	maps.Copy(out, counts)
	out[name]++
	return out
}

func (t *turnFold) addReply(b event.ModelReplied) {
	t.ModelFailed = nil
	t.Used.Input += b.Usage.Input
	t.Used.Output += b.Usage.Output
	t.Used.CacheRead += b.Usage.CacheRead
	t.Used.CacheWrite += b.Usage.CacheWrite
	t.Used.MicroUSD += b.Usage.MicroUSD
	if call := modelCall(t.Phase); call != nil && call.Output != "" {
		return // of a step: no part of the conversation
	}
	t.Said = b.Text
	t.Lines = append(t.Lines, line{Role: "assistant", Text: b.Text, Calls: b.Calls})
	t.Calls += len(b.Calls)
	if len(b.Calls) > 0 {
		t.CallReplies++
	} else {
		t.Final, t.FinalStop = b.Text, b.Stop
	}
}

func (t *turnFold) addStart(e event.Event, b event.ToolStarted) {
	t.jobFrom = t.elapsed(e.Time)
	t.count(toolCalls)
	for _, kind := range b.Rescued {
		t.count("rescued_" + kind)
	}
	if s, ok := settled(t.Phase).(stepping); ok && b.Step != nil && b.By == byStep && s.At.Alt != b.Step.Alt {
		t.ModelFailed = nil // done another way, without the model that failed
	}
}

func (t *turnFold) addFailure(b event.ToolFailed) {
	if t.Direct != nil {
		t.DirectEnded = callOutcome(b.Code)
	}
	t.count("failures")
	if b.Code.SentBack() {
		t.SentBack = added(t.SentBack, b.Tool)
	} else {
		t.Failures = added(t.Failures, b.Tool)
	}
	said := map[string]any{"error": b.Code, "message": b.Message, "tries_left": b.TriesLeft}
	if b.Suggestion != "" {
		said["suggestion"] = b.Suggestion
	}
	if b.Hint != "" {
		said["hint"] = b.Hint
	}
	if !b.Details.IsZero() && b.Details.JSON != nil {
		said["details"] = b.Details.JSON
	}
	t.addResult(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Failed: true, Result: event.From(said), Show: event.Show{All: true}})
}

// addResult tells the model the result of a call that it or the person made.
func (t *turnFold) addResult(call string, l line) {
	if slices.ContainsFunc(openCalls(t.Phase), hasID(call)) {
		t.Lines = append(t.Lines, l)
	}
}

// addAnswer tells the model what the person answered to the card of a call.
func (t *turnFold) addAnswer(b event.CardAnswered) {
	card := openCard(t.Phase)
	if card == nil || card.Call == "" || card.Name == approvalCard {
		return
	}
	i := slices.IndexFunc(t.Lines, func(l line) bool { return l.Call == card.Call })
	if i < 0 {
		return
	}
	t.Lines = slices.Clone(t.Lines)
	t.Lines[i].Answer = &answerLine{b.Answer, b.Fields, b.Note}
	t.told = t.told[:min(i+1, len(t.told))] // the opening comes before the lines
}

func (t *turnFold) stopWaiting(e event.Event) {
	if openCard(t.Phase) != nil {
		t.Waited += e.Time.Sub(t.waitFrom)
	}
}

func (t *turnFold) toolOf(call string) string {
	calls := openCalls(t.Phase)
	if i := slices.IndexFunc(calls, hasID(call)); i >= 0 {
		return calls[i].Name
	}
	return ""
}

// active says whether the turn is under way: it runs, or waits for the person.
func (t *turnFold) active() bool {
	if t == nil {
		return false
	}
	_, over := t.Phase.(ended)
	return !over
}

// forgetWork drops what a turn that has ended needs no more: what is left of it is the
// same in memory and in a snapshot.
func (t *turnFold) forgetWork() {
	t.Direct, t.Lines, t.ModelFailed = nil, nil, nil
	t.told, t.opening = nil, nil
}

// elapsed is the time of the turn so far, less the time it waited for a person or a
// process.
func (t *turnFold) elapsed(now time.Time) time.Duration { return now.Sub(t.Started) - t.Waited }
