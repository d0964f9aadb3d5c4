package server

import (
	"context"
	"encoding/json"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
)

// A teller translates the events of a thread into the messages of /chat/stream:
//
//	token {text}  tool_call {name, input, call_id}  tool_result {name, output, call_id}
//	state {state}  card {card_id}  artifact {artifact_id}  progress {note}
//	error {type, message}  result {the chat response}  done {run_id}
//
// What it says of a stored event depends on the log alone, so that a client may
// go on in another connection; only the pieces of a text in progress depend on
// what this connection has said of it.
type teller struct {
	thread, run string
	resumed     bool // another connection came before this one
	reply       func(ctx context.Context, run string) (engine.Reply, error)

	asked   map[string]event.ModelCall // by call
	started map[string]bool
	said    map[string]string // the text of each model call so far, here
}

// A message is one server-sent event.
type message struct {
	name string
	data any
}

func (s *Server) newTeller(thread, run string, resumed bool) *teller {
	return &teller{
		thread: thread, run: run, resumed: resumed,
		reply: func(ctx context.Context, run string) (engine.Reply, error) {
			return s.cfg.Engine.Reply(ctx, run)
		},
		asked: map[string]event.ModelCall{}, started: map[string]bool{}, said: map[string]string{},
	}
}

type (
	tokenData struct {
		Text  string `json:"text"`
		Whole bool   `json:"whole,omitempty"` // the text from its beginning: it replaces what was said of it
		Final bool   `json:"final,omitempty"` // the text is complete
	}
	callData struct {
		Name  string      `json:"name"`
		Input event.Value `json:"input"`
		Call  string      `json:"call_id"`
		By    string      `json:"by,omitempty"`
		State string      `json:"state,omitempty"`
	}
	resultData struct {
		Name      string          `json:"name"`
		Output    json.RawMessage `json:"output"`
		Call      string          `json:"call_id"`
		Status    string          `json:"status"` // ok, duplicate, failed, refused
		Reason    fault.Code      `json:"reason,omitempty"`
		Duplicate string          `json:"duplicate_of,omitempty"`
		TriesLeft *int            `json:"tries_left,omitempty"`
		MS        int64           `json:"ms"`
	}
	stateData struct {
		Thread string         `json:"thread_id"`
		Run    string         `json:"run_id,omitempty"`
		State  string         `json:"state,omitempty"`
		From   string         `json:"from,omitempty"`
		Cause  string         `json:"cause,omitempty"`
		When   string         `json:"when,omitempty"`
		Saw    map[string]any `json:"saw,omitempty"`
		Status string         `json:"status"`
	}
	artifactData struct {
		event.ArtifactMade
		URL string `json:"url"`
	}
)

// tell says an event, and whether the turn rests after it.
func (t *teller) tell(ctx context.Context, ev event.Event) (said []message, rests bool, err error) {
	switch e := event.Inline(ev.Body).(type) {
	case event.TurnStarted:
		t.run = e.Run
		return one("state", t.state(event.StateEntered{Cause: "turn"})), false, nil
	case event.StateEntered:
		return one("state", t.state(e)), false, nil
	case event.Token:
		return t.token(e), false, nil
	case event.ModelReplied:
		return t.replied(e), false, nil
	case event.ToolStarted:
		t.started[e.Call] = true
		input := e.Shown
		if input.IsZero() {
			input = e.Args
		}
		return one("tool_call", callData{e.Tool, input, e.Call, e.By, e.State}), false, nil
	case event.ToolProgress:
		said := map[string]string{"name": e.Tool, "call_id": e.Call, "note": e.Note}
		if e.Stream != "" {
			said["stream"] = e.Stream
		}
		return one("progress", said), false, nil
	case event.ToolReturned:
		r := resultData{Name: e.Tool, Output: forPerson(e), Call: e.Call, Status: "ok", Reason: e.Reason, Duplicate: e.Duplicate, MS: e.MS}
		if e.Duplicate != "" {
			r.Status = "duplicate"
		}
		return t.result(r, e.Args), false, nil
	case event.ToolFailed:
		out := encode(&fault.Fault{Code: e.Code, Message: e.Message, Suggestion: e.Suggestion, Details: e.Details.Decode()})
		return t.result(resultData{Name: e.Tool, Output: out, Call: e.Call, Status: "failed", Reason: e.Code, TriesLeft: &e.TriesLeft, MS: e.MS}, e.Args), false, nil
	case event.ToolRefused:
		out := encode(map[string]any{"error": e.Code, "message": e.Message, "when": e.When, "saw": e.Saw})
		return t.result(resultData{Name: e.Tool, Output: out, Call: e.Call, Status: "refused", Reason: e.Code}, e.Args), false, nil
	case event.ArtifactMade:
		return one("artifact", artifactData{e, artifactURL(e.ID)}), false, nil
	case event.CardRaised:
		return t.rest(ctx, message{"card", cardOf(&e)})
	case event.TurnEnded:
		t.run = e.Run
		return t.rest(ctx)
	}
	return nil, false, nil
}

func artifactURL(id string) string { return "/api/artifacts/" + id }

func one(name string, data any) []message { return []message{{name, data}} }

func (t *teller) state(e event.StateEntered) stateData {
	return stateData{t.thread, t.run, e.To, e.From, e.Cause, e.When, e.Saw, "running"}
}

// token says a piece of text. The first piece in a later connection holds all
// that was said before.
func (t *teller) token(e event.Token) []message {
	before, here := t.said[e.Call]
	t.said[e.Call] = before + e.Text
	return one("token", tokenData{Text: e.Text, Whole: t.resumed && !here})
}

// replied says what is missing of a text that is now complete.
func (t *teller) replied(e event.ModelReplied) []message {
	for _, c := range e.Calls {
		t.asked[c.ID] = c
	}
	said, here := t.said[e.Call]
	if e.Text == "" && !here {
		return nil
	}
	rest, ok := strings.CutPrefix(e.Text, said)
	if !ok {
		rest = e.Text
	}
	return one("token", tokenData{Text: rest, Whole: !ok || t.resumed && !here, Final: true})
}

// result says the one result of a call, and before it the call itself if it was
// never started.
func (t *teller) result(r resultData, args event.Value) []message {
	if t.started[r.Call] {
		return one("tool_result", r)
	}
	if c, ok := t.asked[r.Call]; ok {
		args = c.Args
	}
	return []message{{"tool_call", callData{Name: r.Name, Input: args, Call: r.Call}}, {"tool_result", r}}
}

// rest ends the telling with the chat response.
func (t *teller) rest(ctx context.Context, said ...message) ([]message, bool, error) {
	reply, err := t.reply(ctx, t.run)
	if err != nil {
		return nil, true, err
	}
	if cutShort(reply) && len(said) == 0 {
		said = one("error", errorOf(reply.Code))
	}
	return append(said, message{"result", ChatResponse{reply}},
		message{"done", map[string]string{"run_id": t.run, "status": reply.Status(), "outcome": reply.Outcome}}), true, nil
}

// forPerson is the part of a result that the machine shows to people.
func forPerson(e event.ToolReturned) json.RawMessage {
	if !e.Person.All && len(e.Person.Fields) == 0 || e.Result.JSON == nil {
		return json.RawMessage("null")
	}
	return engine.Part(e.Result.JSON, e.Person)
}

// A cardData is a card as clients see it.
type cardData struct {
	Card    string             `json:"card_id"`
	Name    string             `json:"name"`
	Title   string             `json:"title"`
	Content any                `json:"content"`
	Answers []event.CardChoice `json:"answers"`
	Message string             `json:"message,omitempty"`
	State   string             `json:"state"`
	Call    string             `json:"call_id,omitempty"`
}

func cardOf(c *event.CardRaised) *cardData {
	if c == nil {
		return nil
	}
	return &cardData{c.Card, c.Name, c.Title, c.Content.Inline(), orEmpty(c.Answers), c.Message, c.State, c.Call}
}
