package server

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/fault"
)

// A Saying is what a person says: a message, the answer to a card, or a command.
type Saying struct {
	Message  string         `json:"message,omitempty" doc:"What the person says"`
	Card     *CardResponse  `json:"card_response,omitempty" doc:"The answer to the open card"`
	Command  *CommandGiven  `json:"command,omitempty" doc:"One of the thread's commands"`
	Thread   string         `json:"thread_id,omitempty" maxLength:"200" doc:"Absent: a new thread is opened"`
	Dataset  string         `json:"dataset_id,omitempty" maxLength:"200" doc:"What the question is about"`
	Machine  string         `json:"machine,omitempty" maxLength:"200" doc:"Which machine runs a new thread"`
	Settings map[string]any `json:"settings,omitempty" doc:"Settings of the machine, from this turn on"`
	Rerun    bool           `json:"rerun,omitempty" doc:"Calls that were made before may run again"`
	// Plan is a reading that the person changed: it runs as it is, and no model is asked.
	Plan json.RawMessage `json:"plan,omitempty" doc:"A query plan to run instead of asking a model; message says in words what it is"`

	name string // under which the store finds it again
}

// A CardResponse answers a card.
type CardResponse struct {
	Card   string         `json:"card_id" minLength:"1" maxLength:"200"`
	Answer string         `json:"answer" minLength:"1" maxLength:"200" doc:"The name of one of its answers"`
	Fields map[string]any `json:"fields,omitempty"`
	Note   string         `json:"note,omitempty" doc:"Told to the model"`
}

// A CommandGiven is a command of the machine.
type CommandGiven struct {
	Name   string         `json:"name" minLength:"1" maxLength:"200"`
	Fields map[string]any `json:"fields,omitempty"`
}

// A startedTurn is where a saying went: the run it began or resumed, in a thread that
// ended at after before.
type startedTurn struct {
	thread, run string
	after       int64
}

// A begunTurn says where to follow a turn: in the events of the thread after this one.
type begunTurn struct {
	Thread string `json:"thread_id"`
	Run    string `json:"run_id"`
	After  int64  `json:"after" doc:"The last event of the thread before this turn; 0 of a new thread"`
}

// beginTurn says something and returns at once; the thread's events tell the rest.
func (s *Server) beginTurn(ctx context.Context, in *struct{ Body Saying }) (begunTurn, error) {
	at, err := s.startTurn(ctx, in.Body, s.cfg.Machine)
	return begunTurn{at.thread, at.run, at.after}, err
}

func (s *Server) chat(ctx context.Context, in *struct{ Body Saying }) (ChatResponse, error) {
	at, err := s.startTurn(ctx, in.Body, s.cfg.Machine)
	if err != nil {
		return ChatResponse{}, err
	}
	return s.answer(ctx, at.thread, at.run)
}

// startTurn hands a saying to the engine, in its own thread or a new one.
func (s *Server) startTurn(ctx context.Context, in Saying, machine string) (startedTurn, error) {
	if err := in.check(); err != nil {
		return startedTurn{}, err
	}
	if err := s.knowsDataset(ctx, in.Dataset); err != nil {
		return startedTurn{}, err
	}
	user := noteOf(ctx).user.Name
	input := engine.Input{User: user, Text: in.Message, Dataset: in.Dataset, Rerun: in.Rerun, Name: in.name}
	if c := in.Card; c != nil {
		input.Card = &engine.CardAnswer{Card: c.Card, Answer: c.Answer, Fields: c.Fields, Note: c.Note}
	}
	if c := in.Command; c != nil {
		input.Command = &engine.Command{Name: c.Name, Fields: c.Fields}
	}
	var err error
	if !isNull(in.Plan) {
		if input.Direct, err = s.directPlan(in); err != nil {
			return startedTurn{}, err
		}
	}
	at := startedTurn{thread: in.Thread}
	if in.Thread == "" {
		at.thread, at.run, err = s.cfg.Engine.Start(ctx, engine.Opening{
			Machine: cmp.Or(in.Machine, machine), Owner: user, Title: truncate(in.Message, 80),
			Dataset: in.Dataset, Settings: in.Settings,
		}, input)
		noteThread(ctx, at.thread, at.run)
		return at, err
	}
	t, err := s.ownThread(ctx, in.Thread)
	if err != nil {
		return startedTurn{}, err
	}
	if in.Machine != "" && in.Machine != t.Machine {
		return startedTurn{}, badRequest("thread %s runs the machine %s, not %s", t.ID, t.Machine, in.Machine).
			Suggest("Leave thread_id out to open a thread of another machine.")
	}
	at.after, input.Settings = t.Seq, in.Settings
	at.run, err = s.cfg.Engine.Send(ctx, at.thread, input)
	noteThread(ctx, at.thread, at.run)
	return at, err
}

// directPlan is the call that runs the plan of a saying.
func (s *Server) directPlan(in Saying) (*engine.Direct, error) {
	tool, ok := s.cfg.Direct[DirectPlan]
	if !ok {
		return nil, fault.New(fault.FeatureDisabled, "this server runs no query plan without a model")
	}
	return &engine.Direct{Tool: tool.Tool, Args: encode(map[string]any{tool.Dataset: in.Dataset, tool.Query: in.Plan})}, nil
}

func (in Saying) check() error {
	said := 0
	for _, given := range []bool{strings.TrimSpace(in.Message) != "", in.Card != nil, in.Command != nil} {
		if given {
			said++
		}
	}
	switch {
	case said != 1:
		return badRequest("the body needs exactly one of message, card_response and command")
	case !isNull(in.Plan) && (strings.TrimSpace(in.Message) == "" || in.Dataset == ""):
		return badRequest("a plan needs its dataset_id, and a message that says in words what it is")
	case in.Card != nil && in.Thread == "":
		return badRequest("a card_response needs the thread_id of its card")
	}
	return nil
}

// answer waits until the thread rests and gives the chat response of the run.
func (s *Server) answer(ctx context.Context, thread, run string) (ChatResponse, error) {
	reply, err := s.waitForReply(ctx, thread, run)
	return s.chatResponse(reply), err
}

func (s *Server) waitForReply(ctx context.Context, thread, run string) (engine.Reply, error) {
	if err := s.cfg.Engine.Wait(ctx, thread); err != nil {
		return engine.Reply{}, err
	}
	return s.cfg.Engine.Reply(ctx, run)
}

// truncate cuts a text to n characters.
func truncate(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
