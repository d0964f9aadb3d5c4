package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// A questionIn is what a client asks.
type questionIn struct {
	Message string `json:"message" jsonschema:"the question or request, in the person's words"`
	Dataset string `json:"dataset_id,omitempty" jsonschema:"the dataset it is about"`
	Thread  string `json:"thread_id,omitempty" jsonschema:"an earlier thread to continue"`
}

// A questionOut is the answer with its evidence.
type questionOut struct {
	Outcome string   `json:"outcome" jsonschema:"answered, asked, declined, refused, failed, stopped, limited or waiting"`
	Answer  string   `json:"answer"`
	Thread  string   `json:"thread_id"`
	Run     string   `json:"run_id"`
	Code    string   `json:"code,omitempty"`
	Results []result `json:"results"`
	Files   []string `json:"files,omitempty" jsonschema:"ids of artifacts"`
	// Waiting is the question that a person must answer, where the client cannot ask.
	Waiting string `json:"waiting,omitempty"`
}

// A result is what a tool showed the person.
type result struct {
	Tool   string          `json:"tool"`
	Output json.RawMessage `json:"output"`
}

// Bounds of an answer.
const (
	maxOutput = 256 << 10 // bytes of all results
	maxCards  = 20        // questions to the person in one call
	maxCard   = 4000      // characters of what a card shows
)

const cardRequest = "card" // the key of the one input request

// A resumption names the run that waits for an answer. It comes back through the client
// and is not trusted: the thread must be the user's, and the card open.
type resumption struct {
	Thread string `json:"thread"`
	Run    string `json:"run"`
	Card   string `json:"card"`
}

// addQuestion adds a machine as a tool.
func (s *server) addQuestion(to *mcp.Server, q Question) {
	no := false
	to.AddTool(&mcp.Tool{
		Name: q.Name, Description: q.Description, InputSchema: tool.SchemaOf[questionIn](), OutputSchema: tool.SchemaOf[questionOut](),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		thread, run, err := s.begin(ctx, q, req)
		if err != nil && !isRefusedAnswer(err) {
			return failed(err), nil
		}
		return s.finish(ctx, req, resumption{Thread: thread, Run: run}, err)
	})
}

// begin starts a run, or resumes the one that waited for an answer of the person.
func (s *server) begin(ctx context.Context, q Question, req *mcp.CallToolRequest) (thread, run string, err error) {
	if req.Params.RequestState != "" {
		var at resumption
		if err := json.Unmarshal([]byte(req.Params.RequestState), &at); err != nil {
			return "", "", fault.New(fault.BadRequest, "the state of the request cannot be read")
		}
		said, _ := req.Params.InputResponses[cardRequest].(*mcp.ElicitResult)
		return at.Thread, at.Run, s.answer(ctx, at, said)
	}
	var in questionIn
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil || strings.TrimSpace(in.Message) == "" {
		return "", "", fault.New(fault.InvalidArguments, "%s needs a message", q.Name)
	}
	input := engine.Input{User: s.owner, Text: in.Message, Dataset: in.Dataset}
	if in.Thread == "" {
		return s.cfg.Engine.Start(ctx, engine.Opening{Machine: q.Machine, Owner: s.owner, Dataset: in.Dataset}, input)
	}
	if err := s.mustOwn(ctx, in.Thread); err != nil {
		return "", "", err
	}
	run, err = s.cfg.Engine.Send(ctx, in.Thread, input)
	return in.Thread, run, err
}

// mustOwn refuses threads of other users in the same words as ones that do not exist.
func (s *server) mustOwn(ctx context.Context, thread string) error {
	owner, err := s.cfg.OwnerOf(ctx, thread)
	if err != nil || owner != s.owner {
		return fault.New(fault.ThreadNotFound, "there is no thread %q", thread)
	}
	return nil
}

// isRefusedAnswer reports whether a card did not take an answer and is still open.
func isRefusedAnswer(err error) bool { return err != nil && fault.From(err).Code == fault.BadAnswer }

// finish waits for a run. Where it asks the person, the client is asked to ask; refused
// says why the card did not take the last answer, nil if it did.
func (s *server) finish(ctx context.Context, req *mcp.CallToolRequest, at resumption, refused error) (*mcp.CallToolResult, error) {
	for range maxCards {
		if err := s.cfg.Engine.Wait(ctx, at.Thread); err != nil {
			return failed(err), nil
		}
		reply, err := s.cfg.Engine.Reply(ctx, at.Run)
		if err != nil {
			return failed(err), nil
		}
		if reply.Card == nil || reply.Ended {
			return succeeded(encodeAnswer(reply, "")), nil
		}
		ask := elicitation(reply.Card)
		if refused != nil {
			ask.Message = fault.From(refused).Message + "\n\n" + ask.Message
		}
		at.Card = reply.Card.Card
		switch {
		case speaksRounds(req.Session):
			state, err := json.Marshal(at)
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{cardRequest: ask}, RequestState: string(state)}, nil
		case !canAsk(req.Session):
			return succeeded(encodeAnswer(reply, ask.Message)), nil
		}
		said, err := req.Session.Elicit(ctx, ask)
		if err != nil {
			return succeeded(encodeAnswer(reply, ask.Message)), nil
		}
		if refused = s.answer(ctx, at, said); refused != nil && !isRefusedAnswer(refused) {
			return failed(refused), nil
		}
	}
	return failed(fault.New(fault.TooMany, "the run asks more than %d questions", maxCards)), nil
}

// firstRounds is the revision of the protocol in which a server asks by its result.
const firstRounds = "2026-07-28"

func speaksRounds(ss *mcp.ServerSession) bool {
	p := ss.InitializeParams()
	return p == nil || p.ProtocolVersion >= firstRounds
}

func canAsk(ss *mcp.ServerSession) bool {
	p := ss.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

// answer gives the person's answer to the card. Whoever declines gives the answer that
// allows nothing, where the card has one; else the run is left waiting.
func (s *server) answer(ctx context.Context, at resumption, said *mcp.ElicitResult) error {
	if err := s.mustOwn(ctx, at.Thread); err != nil {
		return err
	}
	reply, err := s.cfg.Engine.Reply(ctx, at.Run)
	if err != nil {
		return err
	}
	if reply.Card == nil || reply.Card.Card != at.Card || reply.Thread != at.Thread {
		return fault.New(fault.Conflict, "the question was answered elsewhere, or is not open any more")
	}
	a := engine.CardAnswer{Card: at.Card}
	if said == nil || said.Action != "accept" {
		if a.Answer = refusal(reply.Card); a.Answer == "" {
			return fault.New(fault.Conflict, "the person did not answer: %s", reply.Card.Title).
				Suggest("The thread %s still waits for the answer: go on with its thread_id once the person has one.", at.Thread)
		}
	} else {
		a.Answer, _ = said.Content["answer"].(string)
		a.Note, _ = said.Content["note"].(string)
		for _, c := range reply.Card.Answers {
			if c.Name != a.Answer {
				continue
			}
			for name := range c.Fields {
				if v, given := said.Content[name]; given {
					if a.Fields == nil {
						a.Fields = map[string]any{}
					}
					a.Fields[name] = v
				}
			}
		}
	}
	_, err = s.cfg.Engine.Send(ctx, at.Thread, engine.Input{User: s.owner, Card: &a})
	return err
}

// refusal is the answer of a card that allows nothing: the one whose key is n.
func refusal(c *event.CardRaised) string {
	i := slices.IndexFunc(c.Answers, func(a event.CardChoice) bool { return a.Key == "n" })
	if i < 0 {
		return ""
	}
	return c.Answers[i].Name
}

// elicitation words a card as a form: which answer, its fields, and a note.
func elicitation(c *event.CardRaised) *mcp.ElicitParams {
	names, labels := []any{}, []string{}
	props := map[string]any{}
	for _, a := range c.Answers {
		names = append(names, a.Name)
		labels = append(labels, fmt.Sprintf("%s: %s", a.Name, a.Label))
		for _, field := range slices.Sorted(maps.Keys(a.Fields)) {
			props[field] = map[string]any{"type": formType(a.Fields[field]), "description": "with the answer " + a.Name}
		}
	}
	props["answer"] = map[string]any{"type": "string", "enum": names, "description": strings.Join(labels, "; ")}
	props["note"] = map[string]any{"type": "string", "description": "a remark, if you like"}
	message := strings.TrimSpace(c.Title + "\n\n" + shorten(wordContent(c.Content.Decode()), maxCard))
	return &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{"type": "object", "properties": props, "required": []any{"answer"}}}
}

// wordContent words what a card shows, a line for each field: a person reads it, and a client shows text alone.
func wordContent(content any) string {
	fields, ok := content.(map[string]any)
	if !ok {
		return wordValue(content)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text := wordValue(fields[name]); text != "" {
			lines = append(lines, strings.ReplaceAll(name, "_", " ")+": "+text)
		}
	}
	return strings.Join(lines, "\n")
}

// wordValue words one value: texts as they are, lists line by line, records as JSON.
func wordValue(value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case string:
		return x
	case []any:
		var lines []string
		for _, item := range x {
			lines = append(lines, wordValue(item))
		}
		return strings.Join(lines, "\n")
	}
	raw, err := json.Marshal(value)
	if err != nil { // it was decoded from JSON
		return ""
	}
	return string(raw)
}

// formType returns the type of a form's field for the type of a card's.
func formType(t string) string {
	switch t {
	case "int":
		return "integer"
	case "float":
		return "number"
	case "bool":
		return "boolean"
	}
	return "string"
}

func shorten(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}

// encodeAnswer writes what came of a run. Results beyond the bound are left out.
func encodeAnswer(r engine.Reply, waiting string) json.RawMessage {
	out := questionOut{Outcome: r.Outcome, Answer: r.Text, Thread: r.Thread, Run: r.Run, Code: string(r.Code), Results: []result{}, Waiting: waiting}
	left := maxOutput
	for _, shown := range r.Shown {
		if left -= len(shown.Output); left < 0 {
			break
		}
		out.Results = append(out.Results, result{shown.Tool, shown.Output})
	}
	for _, a := range r.Artifacts {
		out.Files = append(out.Files, a.ID)
	}
	raw, err := json.Marshal(out)
	if err != nil { // every part is valid JSON
		return json.RawMessage(`{}`)
	}
	return raw
}
