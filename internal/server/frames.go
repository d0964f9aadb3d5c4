package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// chatFrames turns the events of a run, from its first on, into the frames of
// /chat/stream:
//
//	token {text}  tool_call {name, input, call_id}  tool_result {name, output, call_id}
//	state {state}  card {card_id}  artifact {artifact_id}  progress {note}
//	error {type, message}  result {the chat response}  done {run_id}
//
// The frames of a stored event depend on the log alone, so that a client may go on in
// another connection; only the pieces of a text in progress depend on what this
// connection has sent of it.
type chatFrames struct {
	first   int64        // the run's first event
	reply   engine.Reply // the sum of the events so far
	resumed bool         // another connection came before this one
	// response makes the chat response with which the stream ends.
	response func(engine.Reply) ChatResponse

	asked   map[string]event.ModelCall  // by call
	started map[string]bool             // by call
	text    map[string]*strings.Builder // by model call: what this connection has of its text
	printed map[string]bool             // by tool call: this connection has sent output of it
}

// A frame is one server-sent event.
type frame struct {
	name string
	data any
}

func (s *Server) newChatFrames(run store.Run, resumed bool) *chatFrames {
	return &chatFrames{
		first: run.First, reply: engine.Reply{Run: run.ID, Thread: run.Thread, Machine: run.Machine}, resumed: resumed, response: s.chatResponse,
		asked: map[string]event.ModelCall{}, started: map[string]bool{}, text: map[string]*strings.Builder{}, printed: map[string]bool{},
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
	progressData struct {
		Name   string `json:"name"`
		Call   string `json:"call_id"`
		Note   string `json:"note"`
		Stream string `json:"stream,omitempty"`
		Whole  bool   `json:"whole,omitempty"` // the output from its beginning: it replaces what was said of it
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
	doneData struct {
		Run     string `json:"run_id"`
		Status  string `json:"status"`
		Outcome string `json:"outcome"`
	}
	artifactData struct {
		event.ArtifactMade
		URL string `json:"url"`
	}
)

// add takes in an event and gives its frames, and says whether the run rests after it.
func (c *chatFrames) add(ev event.Event) (frames []frame, rests bool, err error) {
	body := event.Inline(ev.Body)
	if err := c.reply.Add(body); err != nil {
		return nil, false, err
	}
	c.reply.Shown = nil // results are sent at once and not kept
	switch e := body.(type) {
	case event.TurnStarted:
		return oneFrame("state", c.state(event.StateEntered{Cause: "turn"})), false, nil
	case event.StateEntered:
		return oneFrame("state", c.state(e)), false, nil
	case event.Token:
		return c.token(e), false, nil
	case event.ModelReplied:
		return c.replied(e), false, nil
	case event.ToolStarted:
		c.started[e.Call] = true
		input := e.Shown
		if input.IsZero() {
			input = e.Args
		}
		return oneFrame("tool_call", callData{e.Tool, input, e.Call, e.By, e.State}), false, nil
	case event.ToolProgress:
		whole := c.resumed && e.Stream != "" && !c.printed[e.Call]
		c.printed[e.Call] = c.printed[e.Call] || e.Stream != ""
		return oneFrame("progress", progressData{e.Tool, e.Call, e.Note, e.Stream, whole}), false, nil
	case event.ToolReturned:
		r := resultData{Name: e.Tool, Output: forPerson(e), Call: e.Call, Status: "ok", Reason: e.Reason, Duplicate: e.Duplicate, MS: e.MS}
		if e.Duplicate != "" {
			r.Status = "duplicate"
		}
		return c.result(r, e.Args), false, nil
	case event.ToolFailed:
		out := encode(&fault.Fault{Code: e.Code, Message: e.Message, Suggestion: e.Suggestion, Details: e.Details.Decode()})
		return c.result(resultData{Name: e.Tool, Output: out, Call: e.Call, Status: "failed", Reason: e.Code, TriesLeft: &e.TriesLeft, MS: e.MS}, e.Args), false, nil
	case event.ToolRefused:
		out := encode(map[string]any{"error": e.Code, "message": e.Message, "when": e.When, "saw": e.Saw})
		return c.result(resultData{Name: e.Tool, Output: out, Call: e.Call, Status: "refused", Reason: e.Code}, e.Args), false, nil
	case event.ArtifactMade:
		return oneFrame("artifact", artifactData{e, artifactURL(e)}), false, nil
	case event.CardRaised:
		return c.finalFrames(frame{"card", cardOf(&e)}), true, nil
	case event.TurnEnded:
		return c.finalFrames(), true, nil
	}
	return nil, false, nil
}

// artifactURL is where the output that a call left is read, also after a later version of it.
func artifactURL(a event.ArtifactMade) string {
	return fmt.Sprintf("/api/artifacts/%s@%d", a.ID, a.Version)
}

func oneFrame(name string, data any) []frame { return []frame{{name, data}} }

func (c *chatFrames) state(e event.StateEntered) stateData {
	return stateData{c.reply.Thread, c.reply.Run, e.To, e.From, e.Cause, e.When, e.Saw, store.Running}
}

// token sends a piece of text. The first piece in a later connection holds all
// that was said before.
func (c *chatFrames) token(e event.Token) []frame {
	said, here := c.text[e.Call]
	if !here {
		said = &strings.Builder{}
		c.text[e.Call] = said
	}
	said.WriteString(e.Text)
	return oneFrame("token", tokenData{Text: e.Text, Whole: c.resumed && !here})
}

// replied sends what is missing of a text that is now complete.
func (c *chatFrames) replied(e event.ModelReplied) []frame {
	for _, call := range e.Calls {
		c.asked[call.ID] = call
	}
	said, here := c.text[e.Call]
	if e.Text == "" && !here {
		return nil
	}
	sent := ""
	if here {
		sent = said.String()
	}
	rest, ok := strings.CutPrefix(e.Text, sent)
	if !ok {
		rest = e.Text
	}
	return oneFrame("token", tokenData{Text: rest, Whole: !ok || c.resumed && !here, Final: true})
}

// result sends the one result of a call, and before it the call itself if it was
// never started.
func (c *chatFrames) result(r resultData, args event.Value) []frame {
	if c.started[r.Call] {
		return oneFrame("tool_result", r)
	}
	if call, ok := c.asked[r.Call]; ok {
		args = call.Args
	}
	return []frame{{"tool_call", callData{Name: r.Name, Input: args, Call: r.Call}}, {"tool_result", r}}
}

// finalFrames ends the stream with the chat response. A run that waits for a card is not
// cut short: only one that ended says why.
func (c *chatFrames) finalFrames(before ...frame) []frame {
	reply := c.reply
	if cutShort(reply) && len(before) == 0 {
		before = oneFrame("error", errorOf(reply.Code))
	}
	return append(before, frame{"result", c.response(reply)}, frame{"done", doneData{reply.Run, reply.Status(), reply.Outcome}})
}

// forPerson is the part of a result that the machine shows to people.
func forPerson(e event.ToolReturned) json.RawMessage {
	if !e.Person.All && len(e.Person.Fields) == 0 || e.Result.JSON == nil {
		return json.RawMessage("null")
	}
	return engine.VisibleFields(e.Result.JSON, e.Person)
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
