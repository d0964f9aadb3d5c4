package server

import (
	"bytes"
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

// A ChatResponse is a reply as JSON: the fixed keys, joined with what the machine
// says in its `reply`.
type ChatResponse struct {
	reply engine.Reply
	// shape is what the default machine says of a turn in which nothing happened. It
	// fills what the reply's own machine leaves out, so that all chat responses of a
	// server have the same keys.
	shape map[string]any
}

func (s *Server) chatResponse(r engine.Reply) ChatResponse {
	c := ChatResponse{reply: r}
	if m, err := s.cfg.Machines.Get(s.cfg.Machine); err == nil {
		c.shape = m.EmptyReply(engine.TurnError(r.Outcome, r.Code))
	}
	return c
}

// fixedKeys stand at the front of a chat response, in this order. A machine cannot
// replace them; its status counts only where the run came to its end by itself.
var fixedKeys = []string{"assistant_message", "run_id", "thread_id", "status", "outcome"}

// MarshalJSON joins the keys.
func (c ChatResponse) MarshalJSON() ([]byte, error) {
	r, fields := c.reply, maps.Clone(c.reply.Fields)
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	for key, value := range c.shape {
		fields[key] = fillDefaults(fields[key], value)
	}
	if r.Card != nil {
		fields["card"] = encode(cardOf(r.Card))
	}
	if len(r.Artifacts) > 0 {
		list := make([]artifactData, len(r.Artifacts))
		for i, a := range r.Artifacts {
			list[i] = artifactData{a, artifactURL(a)}
		}
		fields["artifacts"] = encode(list)
	}
	text := r.Text
	if text == "" && r.Card != nil {
		text = cardText(r.Card)
	}
	for i, value := range []string{text, r.Run, r.Thread, r.Status(), r.Outcome} {
		fields[fixedKeys[i]] = encode(value)
	}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(k string) bool { return slices.Contains(fixedKeys, k) })
	return object(append(slices.Clone(fixedKeys), rest...), fields), nil
}

// cardText puts an open card into words, for a client that only shows the message: its
// title, then the texts that it shows.
func cardText(card *event.CardRaised) string {
	lines := []string{card.Title}
	content, _ := card.Content.Decode().(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		switch v := content[name].(type) {
		case string:
			lines = append(lines, v)
		case []any:
			for _, item := range v {
				if text, ok := item.(string); ok {
					lines = append(lines, "- "+text)
				}
			}
		}
	}
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n"))
}

// fillDefaults gives the value where raw is null. Of two objects it adds the keys that raw
// lacks or leaves null.
func fillDefaults(raw json.RawMessage, value any) json.RawMessage {
	if isNull(raw) {
		return encode(value)
	}
	defaults, ok := value.(map[string]any)
	var given map[string]json.RawMessage
	if !ok || json.Unmarshal(raw, &given) != nil {
		return raw
	}
	for key, v := range defaults {
		if isNull(given[key]) {
			given[key] = encode(v)
		}
	}
	return object(slices.Sorted(maps.Keys(given)), given)
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
		return encode(errorData{fault.Internal, "a value could not be shown"})
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// chatShape documents the fixed keys of ChatResponse.
type chatShape struct {
	_         struct{}  `json:"-" additionalProperties:"true"`
	Assistant string    `json:"assistant_message"`
	Run       string    `json:"run_id"`
	Thread    string    `json:"thread_id"`
	Status    string    `json:"status" doc:"In the words of the machine's reply, else the outcome"`
	Outcome   string    `json:"outcome" doc:"answered, asked, declined, refused, failed, stopped, limited, waiting or running"`
	Card      *cardData `json:"card,omitempty" doc:"The question that the run waits for"`
	// Artifacts are absent where the run left none.
	Artifacts []artifactData `json:"artifacts,omitempty" doc:"Files that the run left, pictures among them, with the address of each"`
}

// Schema describes the response, which the keys of a machine's reply join.
func (ChatResponse) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[chatShape](), true, "ChatResponse")
}

// describeReply adds the keys of the default machine's reply to the description of the
// chat response.
func (s *Server) describeReply(schemas huma.Registry) {
	m, err := s.cfg.Machines.Get(s.cfg.Machine)
	chat := schemas.Map()["ChatResponse"]
	if err != nil || chat == nil {
		return
	}
	for key, value := range m.EmptyReply(nil) {
		if chat.Properties[key] == nil {
			chat.Properties[key] = &huma.Schema{Description: "As the machine " + m.Name + " says it in its reply"}
			if record, ok := value.(map[string]any); ok {
				chat.Properties[key].Type = huma.TypeObject
				chat.Properties[key].Properties = map[string]*huma.Schema{}
				for name := range record {
					chat.Properties[key].Properties[name] = &huma.Schema{}
				}
			}
		}
	}
}

// An errorData is a failure as chat responses and streams tell it.
type errorData struct {
	Type    fault.Code `json:"type"`
	Message string     `json:"message"`
}

func errorOf(code fault.Code) errorData { return errorData{code, code.Explain()} }

// cutShort says that a turn failed or came to a limit, and that the code says why.
func cutShort(r engine.Reply) bool { return engine.TurnError(r.Outcome, r.Code) != nil }
