// Package capsule builds the audit document of a run from the log, and replays a run:
// with the recorded replies and results, byte for byte, or with its calls on today's data.
package capsule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A Capsule is everything that happened in one run, for somebody who must defend
// its outcome.
type Capsule struct {
	Run         string                     `json:"run_id"`
	Thread      string                     `json:"thread_id"`
	Owner       string                     `json:"owner"`
	Machine     string                     `json:"machine"`
	Version     string                     `json:"machine_version"`
	Question    string                     `json:"question"`
	Dataset     string                     `json:"dataset_id,omitempty"`
	DataVersion string                     `json:"dataset_version_hash,omitempty"`
	Settings    map[string]any             `json:"settings,omitempty"`
	Status      string                     `json:"status"` // in the machine's words
	Outcome     string                     `json:"outcome"`
	Code        fault.Code                 `json:"code,omitempty"`
	Answer      string                     `json:"assistant_message"`
	Reply       map[string]json.RawMessage `json:"reply,omitempty"`
	Started     time.Time                  `json:"started_at"`
	Ended       time.Time                  `json:"ended_at,omitzero"`
	MS          int64                      `json:"ms"`
	Usage       event.Usage                `json:"usage"`
	Models      []ModelCall                `json:"model_calls"`
	Tools       []ToolCall                 `json:"tool_calls"`
	States      []State                    `json:"states"`
	Cards       []Card                     `json:"cards,omitempty"`
	Artifacts   []event.ArtifactMade       `json:"artifacts,omitempty"`
	Figures     *event.FiguresTraced       `json:"figures,omitempty"` // where the numbers of the answer come from
	Limit       *event.LimitReached        `json:"limit,omitempty"`
	Interrupted int                        `json:"interrupted,omitempty"`
	Log         LogRange                   `json:"log"`
}

// A LogRange is the part of the thread's log that belongs to the run.
type LogRange struct {
	First int64 `json:"first_seq"`
	Last  int64 `json:"last_seq"`
}

// A ModelCall is one call of a model and what came back.
type ModelCall struct {
	Call     string            `json:"call"`
	State    string            `json:"state"`
	Model    string            `json:"model"`
	System   string            `json:"system_hash"`
	Tools    []string          `json:"tools,omitempty"`
	Denied   []event.Denial    `json:"denied,omitempty"`
	Thoughts string            `json:"thoughts,omitempty"`
	Text     string            `json:"text,omitempty"`
	Calls    []event.ModelCall `json:"calls,omitempty"`
	Usage    event.Usage       `json:"usage"`
	Failure  fault.Code        `json:"failure,omitempty"`
	MS       int64             `json:"ms"`
}

// A ToolCall is one call of a tool and its result.
type ToolCall struct {
	Call      string          `json:"call"`
	Tool      string          `json:"tool"`
	By        string          `json:"by,omitempty"`
	State     string          `json:"state,omitempty"`
	Args      json.RawMessage `json:"arguments,omitempty"`
	Version   string          `json:"version,omitempty"`
	Rescued   []string        `json:"rescued,omitempty"`
	Outcome   string          `json:"outcome"` // returned, failed, refused
	Result    json.RawMessage `json:"result,omitempty"`
	Ran       *event.Ran      `json:"ran,omitempty"` // the statement that gave the result
	Code      fault.Code      `json:"code,omitempty"`
	Message   string          `json:"message,omitempty"`
	Duplicate string          `json:"duplicate_of,omitempty"`
	MS        int64           `json:"ms"`
}

// A State is one move of the run.
type State struct {
	event.StateEntered
	At time.Time `json:"at"`
}

// A Card is a question to the person and its answer.
type Card struct {
	event.CardRaised
	Answer string `json:"answer,omitempty"`
	Note   string `json:"note,omitempty"`
	By     string `json:"by,omitempty"`
	Closed string `json:"closed,omitempty"`
}

// Build builds the capsule of a run from its log.
func Build(ctx context.Context, s store.Store, run string) (*Capsule, error) {
	row, err := s.Run(ctx, run)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
		}
		return nil, err
	}
	c := &Capsule{
		Run: run, Thread: row.Thread, Owner: row.Owner, Machine: row.Machine, Question: row.Question, Dataset: row.Dataset, Outcome: row.Status,
		Started: row.Started, Ended: row.Ended, Models: []ModelCall{}, Tools: []ToolCall{}, States: []State{}, Log: LogRange{row.First, row.Last},
	}
	if c.Version, err = versionOfRun(ctx, s, row); err != nil {
		return nil, err
	}
	for ev, err := range engine.Resolved(ctx, s, row.Thread, row.First-1) {
		if err != nil {
			return nil, err
		}
		if row.Last > 0 && ev.Seq > row.Last {
			break
		}
		c.addEvent(ev)
	}
	c.Status = engine.Reply{Outcome: c.Outcome, Fields: c.Reply}.Status()
	return c, nil
}

// versionOfRun returns the hash of the definition under which a run ran: that of its thread,
// or the one that the thread had before it was migrated after the run.
func versionOfRun(ctx context.Context, s store.Store, row store.Run) (string, error) {
	thread, err := s.Thread(ctx, row.Thread)
	if err != nil {
		return "", err
	}
	if row.Last > 0 {
		for ev, err := range s.Events(ctx, row.Thread, row.Last) {
			if err != nil {
				return "", err
			}
			if moved, ok := ev.Body.(event.ThreadMigrated); ok {
				return moved.From, nil
			}
		}
	}
	return thread.Version, nil
}

// addEvent adds an event of the run, whose values must be resolved.
func (c *Capsule) addEvent(ev event.Event) {
	switch b := event.Inline(ev.Body).(type) {
	case event.TurnStarted:
		c.Settings = b.Settings
	case event.StateEntered:
		c.States = append(c.States, State{b, ev.Time})
	case event.ModelCalled:
		c.Models = append(c.Models, ModelCall{Call: b.Call, State: b.State, Model: b.Model, System: b.System, Tools: b.Offered, Denied: b.Denied})
	case event.ModelReplied:
		if m := c.findModelCall(b.Call); m != nil {
			m.Thoughts = b.Thoughts
			m.Model, m.Text, m.Calls, m.Usage, m.MS = b.Model, b.Text, b.Calls, b.Usage, b.MS
		}
	case event.ModelFailed:
		if m := c.findModelCall(b.Call); m != nil {
			m.Failure, m.MS, m.Usage = b.Code, b.MS, m.Usage.Add(b.Usage)
		}
	case event.ToolStarted:
		c.Tools = append(c.Tools, ToolCall{Call: b.Call, Tool: b.Tool, By: b.By, State: b.State, Args: b.Args.JSON, Version: b.Version, Rescued: b.Rescued})
		if b.Version != "" {
			c.DataVersion = b.Version
		}
	case event.ToolReturned:
		t := c.findToolCall(b.Call, b.Tool, b.Args.JSON)
		t.Outcome, t.Result, t.Ran, t.Duplicate, t.Code, t.MS = "returned", b.Result.JSON, b.Ran, b.Duplicate, b.Reason, b.MS
		t.Version = cmp.Or(t.Version, b.Version)
		if b.Ran != nil && b.Ran.Version != "" { // what was read, not what was there before
			c.DataVersion = b.Ran.Version
		}
	case event.ToolFailed:
		t := c.findToolCall(b.Call, b.Tool, b.Args.JSON)
		t.Outcome, t.Code, t.Message, t.MS = "failed", b.Code, b.Message, b.MS
	case event.ToolRefused:
		t := c.findToolCall(b.Call, b.Tool, b.Args.JSON)
		t.Outcome, t.Code, t.Message, t.State = "refused", b.Code, b.Message, b.State
	case event.CardRaised:
		c.Cards = append(c.Cards, Card{CardRaised: b})
	case event.CardAnswered:
		if k := c.findCard(b.Card); k != nil {
			k.Answer, k.Note, k.By = b.Answer, b.Note, b.User
		}
	case event.CardClosed:
		if k := c.findCard(b.Card); k != nil {
			k.Closed = b.Cause
		}
	case event.ArtifactMade:
		c.Artifacts = append(c.Artifacts, b)
	case event.FiguresTraced:
		c.Figures = &b
	case event.LimitReached:
		c.Limit = &b
	case event.TurnInterrupted:
		c.Interrupted++
	case event.TurnEnded:
		c.Outcome = string(b.Status)
		c.Code, c.Answer, c.MS, c.Usage = b.Code, b.Text, b.MS, b.Usage
		c.Log.Last = ev.Seq
		if b.Reply.JSON != nil {
			_ = json.Unmarshal(b.Reply.JSON, &c.Reply) // it was encoded from a map
		}
	}
}

func (c *Capsule) findModelCall(call string) *ModelCall {
	for i := range c.Models {
		if c.Models[i].Call == call {
			return &c.Models[i]
		}
	}
	return nil
}

// findToolCall returns the entry of a call. It adds one for a call that never started.
func (c *Capsule) findToolCall(call, name string, args json.RawMessage) *ToolCall {
	for i := range c.Tools {
		if c.Tools[i].Call == call {
			return &c.Tools[i]
		}
	}
	c.Tools = append(c.Tools, ToolCall{Call: call, Tool: name, Args: args})
	return &c.Tools[len(c.Tools)-1]
}

func (c *Capsule) findCard(id string) *Card {
	for i := range c.Cards {
		if c.Cards[i].Card == id {
			return &c.Cards[i]
		}
	}
	return nil
}
