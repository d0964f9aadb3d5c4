package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	return r.fitPast(r.selectPast(past, s))
}

// selectPast returns the messages of earlier turns, those of the newest turns with their
// calls and results.
func (r *rules) selectPast(past []Message, s *machine.Scope) []llm.Message {
	turns := r.f.Past[max(0, len(r.f.Past)-r.m.Int(r.m.History.ToolTurns, s, 1)):]
	out := []llm.Message{}
	for _, m := range past {
		i := slices.IndexFunc(turns, func(p pastTurn) bool { return p.Run == m.RunID })
		switch {
		case m.Role == "user":
			out = append(out, llm.Message{Role: llm.User, Text: r.pastText(m, s)})
			if i >= 0 {
				out = append(out, r.pastLines(withoutReplaced(turns[i].Lines, answerOf(past, m.RunID)), s)...)
			}
		case i >= 0 && endsWithText(turns[i].Lines, m.Content):
			// the last line of the turn is the same text
		default:
			out = append(out, llm.Message{Role: llm.Assistant, Text: m.Content})
		}
	}
	return out
}

// pastShare is how many bytes earlier turns may take of a model's context: about a sixth
// of it, as a token has about three bytes.
func pastShare(context int) int { return context / 2 }

// fitPast leaves out the oldest turns where the context of the model is too small for all,
// so that the present question and its data have room.
func (r *rules) fitPast(list []llm.Message) []llm.Message {
	if r.f.Turn.Context == 0 {
		return list
	}
	size, from := 0, len(list)
	for i, m := range slices.Backward(list) {
		size += len(m.Text)
		for _, c := range m.Calls {
			size += len(c.Name) + len(c.Args)
		}
		if size > pastShare(r.f.Turn.Context) {
			break
		}
		if m.Role == llm.User {
			from = i
		}
	}
	return list[from:]
}

// resultRoom is how many bytes of one result a model is sent: fewer where its context is
// small, so that several results have room.
func (r *rules) resultRoom() int {
	if t := r.f.Turn; t != nil && t.Context > 0 {
		return min(r.resultBytes, t.Context/2)
	}
	return r.resultBytes
}

// pastText returns an earlier message of the person as it was sent to the model then, so
// that the beginning of the conversation stays the same from turn to turn.
func (r *rules) pastText(m Message, s *machine.Scope) string {
	then := *s
	then.Turn = maps.Clone(s.Turn)
	then.Turn["text"], then.Turn["run"], then.Turn["started"] = m.Content, m.RunID, m.CreatedAt.Format(time.RFC3339Nano)
	then.Turn["today"] = m.CreatedAt.UTC().Format(time.DateOnly)
	delete(then.Turn, "dataset")
	if m.DatasetID != "" {
		then.Turn["dataset"] = m.DatasetID
	}
	return r.besideText(m.Content, &then)
}

// answerOf returns what the person was answered in a run.
func answerOf(past []Message, run string) string {
	for _, m := range slices.Backward(past) {
		if m.RunID == run && m.Role != "user" {
			return m.Content
		}
	}
	return ""
}

// withoutReplaced leaves out the texts of a turn that a later reply took the place of, as when
// the machine sent an answer back: a model must not take them for what the person was told.
func withoutReplaced(lines []line, answer string) []line {
	var out []line
	for i, l := range lines {
		next := slices.IndexFunc(lines[i+1:], func(l line) bool { return l.Role != "tool" })
		replaced := l.Role == "assistant" && len(l.Calls) == 0 && next >= 0 && lines[i+1+next].Role == "assistant"
		if !replaced || strings.Contains(answer, l.Text) {
			out = append(out, l)
		}
	}
	return out
}

// pastLines converts the lines of an earlier turn, with its results cut to the size that
// the machine allows.
func (r *rules) pastLines(lines []line, s *machine.Scope) []llm.Message {
	out := r.toMessages(lines)
	if r.m.History.ResultChars == nil {
		return out
	}
	most := min(r.m.Int(r.m.History.ResultChars, s, r.resultBytes), r.resultRoom())
	for i, m := range out {
		if m.Role == llm.ToolRole {
			out[i].Text = shortenResult([]byte(m.Text), most)
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

// messagesWith returns the present turn with a note of the engine behind it, if there is one.
func (r *rules) messagesWith(note string) []llm.Message {
	list := r.turnMessages()
	if note == "" {
		return list
	}
	return append(slices.Clone(list), llm.Message{Role: llm.User, Text: "[" + note + "]"})
}

// personText returns the person's message, followed by the values that the machine's
// `history.beside` adds to it.
func (r *rules) personText() string {
	return r.besideText(r.f.Turn.Text, r.readScope())
}

// besideText adds the values of the machine's `history.beside` to a message.
func (r *rules) besideText(text string, s *machine.Scope) string {
	var b strings.Builder
	b.WriteString(text)
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
				m.Calls = append(m.Calls, llm.Call{ID: c.ID, Name: c.Name, Args: modelArgs(c.Args)})
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
	if l.Answer != nil || l.Reason != "" && r.isVisible(l.Earlier) {
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
		if l.Reason != "" && r.isVisible(l.Earlier) {
			rec["reason"] = mustJSON(l.Reason)
		}
		raw = mustJSON(rec)
	}
	return shortenResult(raw, r.resultRoom())
}

// isVisible reports whether the model can see an earlier call: it belongs to this turn, or
// to one whose calls go along. Nothing is called a duplicate of what the model cannot see.
func (r *rules) isVisible(call string) bool {
	has := func(lines []line) bool {
		return slices.ContainsFunc(lines, func(l line) bool { return l.Call == call })
	}
	if has(r.f.Turn.Lines) {
		return true
	}
	turns := r.f.Past[max(0, len(r.f.Past)-r.m.Int(r.m.History.ToolTurns, r.readScope(), 1)):]
	return slices.ContainsFunc(turns, func(p pastTurn) bool { return has(p.Lines) })
}

// modelArgs returns the arguments of a call as the model reads them again.
func modelArgs(v event.Value) string {
	if text := argsText(v); json.Valid([]byte(text)) {
		return modelJSON([]byte(text))
	}
	return argsText(v)
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
