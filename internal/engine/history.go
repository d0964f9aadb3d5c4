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

// pastMessages returns what the model is sent of earlier turns: the last messages, and
// for the newest turns their calls and results as well.
func (r *rules) pastMessages(s *machine.Scope) []llm.Message {
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
				out = append(out, r.toMessages(turns[i].Lines)...)
			}
		case i >= 0 && endsWithText(turns[i].Lines, m.Content):
			// the last line of the turn is the same text
		default:
			out = append(out, llm.Message{Role: llm.Assistant, Text: m.Content})
		}
	}
	return out
}

func endsWithText(lines []line, text string) bool {
	return len(lines) > 0 && lines[len(lines)-1].Role == "assistant" && lines[len(lines)-1].Text == text
}

// turnMessages returns the present turn as it is sent to the model: the person's text,
// then replies and results. Messages that were made for an earlier call are reused.
func (r *rules) turnMessages() []llm.Message {
	t := r.f.Turn
	if t.firstMessage == nil {
		t.firstMessage = &llm.Message{Role: llm.User, Text: r.personText()}
	}
	if len(t.sentMessages) == 0 {
		t.sentMessages = append(t.sentMessages, *t.firstMessage)
	}
	if made := len(t.sentMessages) - 1; made < len(t.Lines) {
		t.sentMessages = append(t.sentMessages, r.toMessages(t.Lines[made:])...)
	}
	return t.sentMessages
}

// personText returns the person's message, followed by the values that the machine's
// `history.beside` adds to it.
func (r *rules) personText() string {
	t := r.f.Turn
	s := r.readScope()
	var b strings.Builder
	b.WriteString(t.Text)
	for _, a := range r.m.History.Beside {
		if v, err := r.m.Eval(a.Expr, s); err == nil && v != nil {
			fmt.Fprintf(&b, "\n\n[%s: %s]", a.Name, plainText(v))
		}
	}
	return b.String()
}

// toMessages converts lines into messages for the model.
func (r *rules) toMessages(lines []line) []llm.Message {
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
			out = append(out, llm.Message{Role: llm.ToolRole, CallID: l.Call, Name: l.Tool, Failed: l.Failed, Text: r.resultText(l)})
		default:
			out = append(out, llm.Message{Role: llm.User, Text: l.Text})
		}
	}
	return out
}

// resultText returns a result as it is sent to the model: the fields that the machine
// shows it, with the answer to the card that the call raised, cut to the allowed size.
func (r *rules) resultText(l line) string {
	if l.sentText != "" {
		return l.sentText
	}
	raw := VisibleFields(l.Result.JSON, l.Show)
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
		return cut + fmt.Sprintf("\n(cut: %s of %s bytes shown; ask for less)", groupDigits(r.resultBytes), groupDigits(len(raw)))
	}
	return string(raw)
}

// VisibleFields returns the part of a result that an audience may see.
func VisibleFields(result json.RawMessage, show event.Show) json.RawMessage {
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
