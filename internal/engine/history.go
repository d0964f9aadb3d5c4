package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
)

// history is the part of the past that goes to the model: the last messages, and
// for the newest turns their calls and results as well.
func (r *rules) history(s *machine.Scope) []llm.Message {
	t := r.f.Turn
	past := r.f.Messages
	if i := slices.IndexFunc(past, func(m Message) bool { return m.RunID == t.Run }); i >= 0 {
		past = past[:i]
	}
	n := r.m.Int(r.m.History.Messages, s, 12)
	past = past[max(0, len(past)-n):]
	turns := r.f.Past[max(0, len(r.f.Past)-r.m.Int(r.m.History.ToolTurns, s, 1)):]

	out := []llm.Message{}
	for _, m := range past {
		i := slices.IndexFunc(turns, func(p pastTurn) bool { return p.Run == m.RunID })
		switch {
		case m.Role == "user":
			out = append(out, llm.Message{Role: llm.User, Text: m.Content})
			if i >= 0 {
				out = append(out, r.messages(turns[i].Lines)...)
			}
		case i >= 0 && endsWith(turns[i].Lines, m.Content):
			// the turn's own lines have said it
		default:
			out = append(out, llm.Message{Role: llm.Assistant, Text: m.Content})
		}
	}
	return out
}

func endsWith(lines []line, text string) bool {
	return len(lines) > 0 && lines[len(lines)-1].Role == "assistant" && lines[len(lines)-1].Text == text
}

// turnMessages is this turn as the model gets it: the person's text with what stands
// beside it, then replies and results. Earlier entries are made once.
func (r *rules) turnMessages() []llm.Message {
	t := r.f.Turn
	if t.opening == nil {
		t.opening = &llm.Message{Role: llm.User, Text: r.personText()}
	}
	if len(t.told) == 0 {
		t.told = append(t.told, *t.opening)
	}
	if made := len(t.told) - 1; made < len(t.Lines) {
		t.told = append(t.told, r.messages(t.Lines[made:])...)
	}
	return t.told
}

// personText is the message with the values that the machine puts beside it.
func (r *rules) personText() string {
	t := r.f.Turn
	s := r.readScope()
	var b strings.Builder
	b.WriteString(t.Text)
	for _, a := range r.m.History.Beside {
		if v, err := r.m.Eval(a.Expr, s); err == nil && v != nil {
			fmt.Fprintf(&b, "\n\n[%s: %s]", a.Name, plain(v))
		}
	}
	return b.String()
}

// messages turns stored lines into messages.
func (r *rules) messages(lines []line) []llm.Message {
	out := make([]llm.Message, 0, len(lines))
	for _, l := range lines {
		switch l.Role {
		case "assistant":
			m := llm.Message{Role: llm.Assistant, Text: l.Text}
			for _, c := range l.Calls {
				m.Calls = append(m.Calls, llm.Call{ID: c.ID, Name: c.Name, Args: argsText(c.Args)})
			}
			out = append(out, m)
		case "tool":
			out = append(out, llm.Message{Role: llm.ToolRole, CallID: l.Call, Name: l.Tool, Failed: l.Failed, Text: r.told(l)})
		default:
			out = append(out, llm.Message{Role: llm.User, Text: l.Text})
		}
	}
	return out
}

// told is what the model is told of a result: the part that the machine shows it,
// cut to size, with the answer of the card that the call raised.
func (r *rules) told(l line) string {
	if l.told != "" {
		return l.told
	}
	raw := Part(l.Result.JSON, l.Show)
	if l.Answer != nil || l.Reason != "" {
		var rec map[string]json.RawMessage
		if json.Unmarshal(raw, &rec) != nil || rec == nil {
			rec = map[string]json.RawMessage{"result": raw}
		}
		if l.Answer != nil {
			rec["answer"] = mustJSON(l.Answer.Answer)
			if l.Answer.Note != "" {
				rec["note"] = mustJSON(l.Answer.Note)
			}
			if len(l.Answer.Fields) > 0 {
				rec["fields"] = mustJSON(l.Answer.Fields)
			}
		}
		if l.Reason != "" {
			rec["reason"] = mustJSON(l.Reason)
		}
		raw = mustJSON(rec)
	}
	if len(raw) > r.resultBytes {
		cut := strings.ToValidUTF8(string(raw[:r.resultBytes]), "")
		return cut + fmt.Sprintf("\n(cut: %s of %s bytes shown; ask for less)", grouped(r.resultBytes), grouped(len(raw)))
	}
	return string(raw)
}

// Part gives the fields of a result that a channel shows.
func Part(result json.RawMessage, show event.Show) json.RawMessage {
	if show.All || len(result) == 0 {
		return result
	}
	var rec map[string]json.RawMessage
	if json.Unmarshal(result, &rec) != nil {
		return json.RawMessage(`{}`)
	}
	out := make(map[string]json.RawMessage, len(show.Fields))
	for _, name := range show.Fields {
		if v, ok := rec[name]; ok {
			out[name] = v
		}
	}
	return mustJSON(out)
}
