package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"interlock/internal/engine"
	"interlock/internal/event"
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

// A place is where a saying went: the run it began or resumed, in a thread that
// ended at after before.
type place struct {
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
	at, err := s.say(ctx, in.Body, s.cfg.Machine)
	return begunTurn{at.thread, at.run, at.after}, err
}

func (s *Server) chat(ctx context.Context, in *struct{ Body Saying }) (ChatResponse, error) {
	at, err := s.say(ctx, in.Body, s.cfg.Machine)
	if err != nil {
		return ChatResponse{}, err
	}
	return s.answer(ctx, at.thread, at.run)
}

// say hands a saying to the engine, in its own thread or a new one.
func (s *Server) say(ctx context.Context, in Saying, machine string) (place, error) {
	if err := in.check(); err != nil {
		return place{}, err
	}
	if err := s.knowsDataset(ctx, in.Dataset); err != nil {
		return place{}, err
	}
	user := noteOf(ctx).user.Name
	input := engine.Input{User: user, Text: in.Message, Dataset: in.Dataset, Rerun: in.Rerun}
	if c := in.Card; c != nil {
		input.Card = &engine.CardAnswer{Card: c.Card, Answer: c.Answer, Fields: c.Fields, Note: c.Note}
	}
	if c := in.Command; c != nil {
		input.Command = &engine.Command{Name: c.Name, Fields: c.Fields}
	}
	at := place{thread: in.Thread}
	var err error
	if in.Thread == "" {
		at.thread, at.run, err = s.cfg.Engine.Start(ctx, engine.Opening{
			Machine: cmp.Or(in.Machine, machine), Owner: user, Title: clip(in.Message, 80),
			Dataset: in.Dataset, Settings: in.Settings,
		}, input)
		about(ctx, at.thread, at.run)
		return at, err
	}
	t, err := s.ownThread(ctx, in.Thread)
	if err != nil {
		return place{}, err
	}
	if in.Machine != "" && in.Machine != t.Machine {
		return place{}, badRequest("thread %s runs the machine %s, not %s", t.ID, t.Machine, in.Machine).
			Suggest("Leave thread_id out to open a thread of another machine.")
	}
	at.after, input.Settings = t.Seq, in.Settings
	at.run, err = s.cfg.Engine.Send(ctx, at.thread, input)
	about(ctx, at.thread, at.run)
	return at, err
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
	case in.Card != nil && in.Thread == "":
		return badRequest("a card_response needs the thread_id of its card")
	}
	return nil
}

// answer waits until the thread rests and gives the chat response of the run.
func (s *Server) answer(ctx context.Context, thread, run string) (ChatResponse, error) {
	if err := s.cfg.Engine.Wait(ctx, thread); err != nil {
		return ChatResponse{}, err
	}
	reply, err := s.cfg.Engine.Reply(ctx, run)
	return ChatResponse{reply}, err
}

// A ChatResponse is a reply as JSON: the fixed keys, joined with what the machine
// says in its `reply`.
type ChatResponse struct{ reply engine.Reply }

// chatShape documents ChatResponse.
type chatShape struct {
	_         struct{}  `json:"-" additionalProperties:"true"`
	Assistant string    `json:"assistant_message"`
	Run       string    `json:"run_id"`
	Thread    string    `json:"thread_id"`
	Status    string    `json:"status" doc:"In the machine's words (analyst: succeeded, rejected or failed), else the outcome"`
	Outcome   string    `json:"outcome" doc:"answered, asked, declined, refused, failed, stopped, limited, waiting or running"`
	Result    any       `json:"result" doc:"{columns, column_types, rows, row_count, exec_time_ms, limited, total_rows, at_least, error} of the last query"`
	Details   any       `json:"details" doc:"{dataset_id, query_mode, plan_json, compiled_sql, python_code}"`
	Card      *cardData `json:"card,omitempty" doc:"The question that the run waits for"`
	// Artifacts are absent where the run left none.
	Artifacts []artifactData `json:"artifacts,omitempty" doc:"Files that the run left, pictures among them, with the address of each"`
}

// Schema describes the response, which other keys of the machine may join.
func (ChatResponse) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[chatShape](), true, "ChatResponse")
}

// MarshalJSON joins the keys. The machine cannot replace the ids, the text and the
// outcome; its status counts only where the run came to its end by itself.
func (c ChatResponse) MarshalJSON() ([]byte, error) {
	r, fields := c.reply, maps.Clone(c.reply.Fields)
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	problem := json.RawMessage("null")
	if cutShort(r) {
		problem = encode(errorOf(r.Code))
	}
	fields["status"], fields["outcome"] = encode(r.Status()), encode(r.Outcome)
	fields["result"] = joined(fields["result"], "columns", "[]", "rows", "[]", "row_count", "0", "exec_time_ms", "0", "error", string(problem))
	fields["details"] = joined(fields["details"], "dataset_id", "null", "query_mode", `"chat"`,
		"plan_json", "null", "compiled_sql", "null", "python_code", "null")
	if r.Card != nil {
		fields["card"] = encode(cardOf(r.Card))
	}
	if len(r.Artifacts) > 0 {
		list := make([]artifactData, len(r.Artifacts))
		for i, a := range r.Artifacts {
			list[i] = artifactData{a, artifactURL(a.ID)}
		}
		fields["artifacts"] = encode(list)
	}
	fields["assistant_message"], fields["run_id"], fields["thread_id"] = encode(r.Text), encode(r.Run), encode(r.Thread)
	first := []string{"assistant_message", "run_id", "thread_id", "status", "outcome", "result", "details"}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(k string) bool { return slices.Contains(first, k) })
	return object(append(first, rest...), fields), nil
}

// cutShort says that a turn failed or came to a limit, and that the code says why.
func cutShort(r engine.Reply) bool {
	return r.Code != "" && (r.Outcome == string(event.Failed) || r.Outcome == string(event.Limited))
}

// joined fills the keys that an object lacks or leaves null; what is no object
// stays as it is.
func joined(raw json.RawMessage, defaults ...string) json.RawMessage {
	var given map[string]json.RawMessage
	if !isNull(raw) && json.Unmarshal(raw, &given) != nil {
		return raw
	}
	if given == nil {
		given = map[string]json.RawMessage{}
	}
	var keys []string
	for pair := range slices.Chunk(defaults, 2) {
		keys = append(keys, pair[0])
		if isNull(given[pair[0]]) {
			given[pair[0]] = json.RawMessage(pair[1])
		}
	}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(given)), func(k string) bool { return slices.Contains(keys, k) })
	return object(append(keys, rest...), given)
}

// object writes the keys in this order.
func object(keys []string, fields map[string]json.RawMessage) json.RawMessage {
	b := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encode(k)...), ':'), fields[k]...)
	}
	return append(b, '}')
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// encode is for values that are always JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return encode(map[string]any{"type": fault.Internal, "message": "a value could not be shown"})
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// An errorData is a failure as chat responses and streams tell it.
type errorData struct {
	Type    fault.Code `json:"type"`
	Message string     `json:"message"`
}

func errorOf(code fault.Code) errorData {
	e := code.Entry()
	return errorData{code, strings.TrimSpace(e.Meaning + ". " + e.Advice)}
}

// clip cuts a text to n characters.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
