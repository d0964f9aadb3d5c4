package engine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/llm"
)

// A turnFold is the state of the present turn, or of the last one: its phase, and what
// outlives a phase.
type turnFold struct {
	Run, User, Text, Dataset, Model string
	Attachments                     []string
	Rerun                           bool
	Context                         int `json:",omitempty"` // tokens that the model reads; 0 if unknown
	Started                         time.Time
	First, Last                     int64

	Phase  phase               `json:"-"` // a snapshot is made between turns: it has ended
	Direct *event.PersonCalled // the one call of a turn without a model

	Said        string             // text of the last reply
	Final       string             // the last text without a call
	FinalStop   string             // how the model ended it
	DirectEnded event.Outcome      // of the person's own call, if it did not return
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

	waitFrom     time.Time     // when the open card was raised
	jobFrom      time.Duration // the turn's time when the running tool or model call began
	sentMessages []llm.Message // the person's text and Lines as they are sent to the model; turnMessages extends it
	firstMessage *llm.Message
	started      string // Started as guards see it
	history      string // blob of the past that goes along with every call of this turn
}

// A line is one entry of the turn's conversation with the model.
type line struct {
	Role    string            // assistant, tool, user
	Text    string            `json:",omitempty"`
	Calls   []event.ModelCall `json:",omitempty"`
	Call    string            `json:",omitempty"`
	Tool    string            `json:",omitempty"`
	Failed  bool              `json:",omitempty"`
	Result  event.Value       `json:",omitzero"` // of a tool, whole
	Show    event.Show        // the part the model sees
	Answer  *answerLine       `json:",omitempty"` // of the card that the call raised
	Reason  string            `json:",omitempty"`
	Earlier string            `json:",omitempty"` // the call whose result this is

	args     event.Value // of the call as it ran; only in its own turn
	sentText string      // resultText of a large result of an earlier turn, which is not in memory
}

// resolve loads the large values of a line.
func (l *line) resolve(fetch func(event.Value) (event.Value, error)) (err error) {
	if l.Result, err = fetch(l.Result); err != nil {
		return err
	}
	return l.resolveArgs(fetch)
}

// resolveArgs loads the large arguments of a line. Its calls are not changed in place,
// because the phase of the turn and published copies share them.
func (l *line) resolveArgs(fetch func(event.Value) (event.Value, error)) (err error) {
	if !slices.ContainsFunc(l.Calls, func(c event.ModelCall) bool { return !c.Args.Resolved() }) {
		return nil
	}
	l.Calls = slices.Clone(l.Calls)
	for i := range l.Calls {
		if l.Calls[i].Args, err = fetch(l.Calls[i].Args); err != nil {
			return err
		}
	}
	return nil
}

// An answerLine is what a person answered to the card that a call raised.
type answerLine struct {
	Answer string         `json:"answer"`
	Fields map[string]any `json:"fields,omitempty"`
	Note   string         `json:"note,omitempty"`
}

// toolCalls is the key in Counts of the calls that started.
const toolCalls = "tool_calls"

func newTurnFold(e event.Event, b event.TurnStarted, dataset string) *turnFold {
	t := &turnFold{
		Run: b.Run, User: b.User, Text: b.Text, Dataset: dataset, Attachments: b.Attachments, Rerun: b.Rerun, Model: b.Model, Context: b.Context,
		Started: e.Time, First: e.Seq, Counts: map[string]int{}, Phase: nextPhase(nil, b),
	}
	t.started = t.Started.Format(time.RFC3339Nano)
	return t
}

func (t *turnFold) countUp(what string) { t.Counts[what]++ }

// apply adds one event of the turn. idle is the time since the previous event.
func (t *turnFold) apply(e event.Event, idle time.Duration) {
	switch b := e.Body.(type) {
	case event.PersonCalled:
		t.Direct = &b
		if b.Tool != "" {
			t.Calls = 1
		}
	case event.StateEntered:
		t.Visits = incremented(t.Visits, b.To)
		t.Moves++
	case event.ModelCalled:
		t.jobFrom = t.elapsed(e.Time)
		t.Models++
		t.ModelFailed = nil
	case event.ModelReplied:
		t.addReply(b)
	case event.ModelFailed:
		t.ModelFailed = &b
		t.Used = t.Used.Add(b.Usage)
		t.countUp("model_failures")
	case event.ToolStarted:
		t.addStart(e, b)
	case event.ToolReturned:
		if b.Duplicate != "" {
			t.countUp("duplicates")
		} else if t.Failures[b.Tool] > 0 { // what works may fail as often again
			t.Failures = maps.Clone(t.Failures)
			delete(t.Failures, b.Tool)
		}
		args := b.Args // of a duplicate
		if ran := runningCall(t.Phase); ran != nil && ran.Call == b.Call {
			args = ran.Args
		}
		t.addResult(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, args: args, Result: b.Result, Show: b.Model, Reason: string(b.Reason), Earlier: b.Duplicate})
	case event.ToolFailed:
		t.addFailure(b)
	case event.ToolRefused:
		t.countUp("refused")
		if t.Direct != nil {
			t.DirectEnded = event.Refused
		}
		t.addResult(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Failed: true, Show: event.Show{All: true}, Result: ownValue(map[string]any{
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

// incremented returns a copy of counts in which the count of a name is one higher. The
// old map is not changed, because published copies of the fold share it.
func incremented(counts map[string]int, name string) map[string]int {
	out := make(map[string]int, len(counts)+1)
	maps.Copy(out, counts)
	out[name]++
	return out
}

func (t *turnFold) addReply(b event.ModelReplied) {
	t.ModelFailed = nil
	t.Used = t.Used.Add(b.Usage)
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
	t.countUp(toolCalls)
	for _, kind := range b.Rescued {
		t.countUp("rescued_" + kind)
	}
	if s, ok := afterReaction(t.Phase).(stepping); ok && b.Step != nil && b.By == byStep && s.At.Alt != b.Step.Alt {
		t.ModelFailed = nil // done another way, without the model that failed
	}
}

func (t *turnFold) addFailure(b event.ToolFailed) {
	if t.Direct != nil {
		t.DirectEnded = callOutcome(b.Code)
	}
	t.countUp("failures")
	switch {
	case b.Code.IsSlip():
	case b.Code.SentBack():
		t.SentBack = incremented(t.SentBack, b.Tool)
	default:
		t.Failures = incremented(t.Failures, b.Tool)
	}
	t.addResult(b.Call, line{Role: "tool", Call: b.Call, Tool: b.Tool, Failed: true, Result: ownValue(failureResult(b)), Show: event.Show{All: true}})
}

// failureResult returns what the model is told of a failure, each thing once: the message,
// then the suggestion that belongs to it, or else the hint of its code. Advice of the code
// is for the person, and details that the message repeats are left out.
func failureResult(b event.ToolFailed) map[string]any {
	result := map[string]any{"error": b.Code, "message": b.Message, "tries_left": b.TriesLeft}
	switch row := b.Code.Entry(); {
	case b.Suggestion != "" && b.Suggestion != row.Advice && !strings.Contains(b.Message, b.Suggestion):
		result["suggestion"] = b.Suggestion
		if last := strings.TrimSpace(strings.TrimPrefix(b.Hint, row.Hint)); last != "" {
			result["hint"] = last
		}
	case b.Hint != "":
		result["hint"] = b.Hint
	}
	if !b.Details.IsZero() && b.Details.JSON != nil && !repeatsDetails(b) {
		result["details"] = b.Details.JSON
	}
	return result
}

// repeatsDetails reports whether every text in the details of a failure is a part of its
// message or suggestion.
func repeatsDetails(b event.ToolFailed) bool {
	said := b.Message + " " + b.Suggestion
	var within func(v any) bool
	within = func(v any) bool {
		switch v := v.(type) {
		case string:
			return strings.Contains(said, v)
		case []any:
			return !slices.ContainsFunc(v, func(item any) bool { return !within(item) })
		case map[string]any:
			for name, item := range v {
				if name != "rule" && !within(item) {
					return false
				}
			}
			return true
		case float64, nil:
			return true
		}
		return false
	}
	return within(b.Details.Decode())
}

// ownValue encodes what no event holds. It is inline whatever its size, because a reference
// to it could not be loaded: the store has no such blob.
func ownValue(v any) event.Value { return event.Value{JSON: mustJSON(v)} }

// addResult adds the result of a call to the conversation, if the model or the person
// made the call.
func (t *turnFold) addResult(call string, l line) {
	if slices.ContainsFunc(openCalls(t.Phase), hasID(call)) {
		t.Lines = append(t.Lines, l)
	}
}

// addAnswer adds a person's answer to the result of the call that raised the card.
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
	t.sentMessages = t.sentMessages[:min(i+1, len(t.sentMessages))] // the opening comes before the lines
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

// active reports whether the turn has not ended: it runs, or waits for the person.
func (t *turnFold) active() bool {
	if t == nil {
		return false
	}
	_, over := t.Phase.(ended)
	return !over
}

// forgetWork drops what an ended turn no longer needs, so that the turn is the same in
// memory and in a snapshot.
func (t *turnFold) forgetWork() {
	t.Direct, t.Lines, t.ModelFailed = nil, nil, nil
	t.sentMessages, t.firstMessage = nil, nil
}

// elapsed returns how long the turn has run, without the time in which it waited for a
// person or had no process.
func (t *turnFold) elapsed(now time.Time) time.Duration { return now.Sub(t.Started) - t.Waited }
