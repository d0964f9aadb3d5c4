package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"interlock/internal/fault"
)

// textCalls lets a model that cannot call tools call them in text: the tools stand in its
// instructions, fenced blocks that end its answer are calls, and results come as messages.
// The fence carries a mark that is made for each request: data that the model quotes cannot
// hold it, and so never becomes a call.
type textCalls struct{ model Model }

// A textCall is the content of a block that stands for a call.
type textCall struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // what some models call them
}

func (t *textCalls) Name() string { return t.model.Name() }

func (t *textCalls) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		fence := newFence()
		held := heldText{mark: fence}
		for d, err := range t.model.Reply(ctx, withToolsInText(req, fence)) {
			switch {
			case err != nil:
				yield(Delta{}, err)
				return
			case d.Reply != nil:
				reply, rest, err := t.withTextCalls(*d.Reply, string(held.text), fence, len(req.Tools) > 0)
				if err != nil {
					yield(Delta{}, err)
				} else if rest == "" || yield(Delta{Text: rest}, nil) {
					yield(Delta{Reply: &reply}, nil)
				}
				return
			default:
				if d.Text = held.add(d.Text); d != (Delta{}) && !yield(d, nil) {
					return
				}
			}
		}
	}
}

// newFence returns the first line of a call, which nothing that was written before can hold.
func newFence() string { return "```tool-" + strings.ToLower(rand.Text()[:8]) }

// withTextCalls returns a reply with the calls that end its text, and what of the held text
// is still to be shown. Other calls do not count: none could be offered, so a server that
// reports one has read it out of the text.
func (t *textCalls) withTextCalls(r Reply, held, fence string, offered bool) (reply Reply, rest string, err error) {
	stray := len(r.Calls) > 0
	r.Calls = nil
	if stray && r.Stop == stopCalls {
		r.Stop = stopEnd
	}
	if at, calls := parseTextCalls(r.Text, fence); offered && len(calls) > 0 {
		held = strings.TrimSpace(strings.TrimSuffix(held, r.Text[at:]))
		r.Text, r.Calls, r.Stop = strings.TrimSpace(r.Text[:at]), calls, stopCalls
	}
	if stray && r.Text == "" && len(r.Calls) == 0 {
		return r, "", fault.New(fault.ModelBadOutput, "%s called a tool in a way that it was not offered", t.Name()).
			Suggest("Run `interlock model probe`: it finds out whether the model calls tools by itself.")
	}
	return r, held, nil
}

// withToolsInText puts the tools of a request into its instructions, and calls and results
// of the conversation into its texts. No two messages of one role follow each other: some
// models are refused such a conversation.
func withToolsInText(req Request, fence string) Request {
	if len(req.Tools) > 0 {
		req.System = strings.TrimSpace(req.System + "\n\n" + toolInstructions(req.Tools, fence))
	}
	req.Tools = nil
	req.History, req.Messages = nil, joinRoles(append(textOnly(req.History, fence), textOnly(req.Messages, fence)...))
	return req
}

// toolInstructions says which tools there are and how a text calls one. The fence, which
// changes, comes last: servers keep what they have read up to the first change.
func toolInstructions(tools []Tool, fence string) string {
	var b strings.Builder
	b.WriteString("## Tools\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n### %s\n%s\nArguments, as JSON Schema: %s\n", t.Name, strings.TrimSpace(t.Description), t.Schema)
	}
	b.WriteString("\n## How to use a tool\nWrite a block like this, with exactly this first line, and nothing after it:\n\n" + fence + "\n{\"name\": \"NAME\", \"arguments\": {}}\n```\n\n" +
		"Its result comes as the next message. Once you know enough, answer in words, without such a block.")
	return b.String()
}

func textOnly(list []Message, fence string) []Message {
	out := make([]Message, 0, len(list))
	for _, m := range list {
		m.Text = defuseCalls(m.Text)
		switch {
		case m.Role == ToolRole && m.Failed:
			m = Message{Role: User, Text: fmt.Sprintf("[%s failed]\n%s", m.Name, m.Text)}
		case m.Role == ToolRole:
			m = Message{Role: User, Text: fmt.Sprintf("[Result of %s]\n%s", m.Name, m.Text)}
		case len(m.Calls) > 0:
			parts := []string{m.Text}
			for _, c := range m.Calls {
				parts = append(parts, callText(c, fence))
			}
			m = Message{Role: m.Role, Text: strings.TrimSpace(strings.Join(parts, "\n"))}
		}
		out = append(out, m)
	}
	return out
}

// callLike matches what looks like a call in a text that is none; the tags are those that
// several models were trained with.
var callLike = regexp.MustCompile("(?i)```+[ \t]*(tool)|<(/?tool_call)>")

// defuseCalls rewrites what looks like a call in data and in what was said, so that the
// model neither takes it for one nor repeats it as one.
func defuseCalls(text string) string { return callLike.ReplaceAllString(text, "[$1$2]") }

// callText is a call as a model writes it in text.
func callText(c Call, fence string) string {
	args := json.RawMessage(defuseCalls(objectArgs(c.Args)))
	raw, err := json.Marshal(textCall{Name: c.Name, Arguments: args})
	if err != nil {
		return ""
	}
	return fence + "\n" + string(raw) + "\n```"
}

// joinRoles joins messages of one role that follow each other.
func joinRoles(list []Message) []Message {
	var out []Message
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Text += "\n\n" + m.Text
			continue
		}
		out = append(out, m)
	}
	return out
}

// parseTextCalls finds the calls that end a text and where the first begins. A block with
// words after it is no call: the model tells of one.
func parseTextCalls(text, fence string) (at int, calls []Call) {
	for from := 0; ; from = at + len(fence) {
		next := strings.Index(text[from:], fence)
		if next < 0 {
			return len(text), nil
		}
		at = from + next
		begins := strings.TrimRight(text[:at], " \t")
		if begins != "" && !strings.HasSuffix(begins, "\n") {
			continue
		}
		if calls = readBlocks(text[at:], fence); len(calls) > 0 {
			return at, calls
		}
	}
}

// readBlocks reads a text that holds blocks with calls and nothing else; nil if it is not
// that. The end of the last block may be missing.
func readBlocks(text, fence string) (calls []Call) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		block, ok := strings.CutPrefix(text, fence)
		dec := json.NewDecoder(strings.NewReader(block))
		var raw json.RawMessage
		if !ok || dec.Decode(&raw) != nil {
			return nil
		}
		found := decodeTextCalls(raw)
		text = strings.TrimSpace(block[dec.InputOffset():])
		if text, ok = strings.CutPrefix(text, "```"); !ok && text != "" || len(found) == 0 || len(calls)+len(found) > maxCalls {
			return nil
		}
		calls = append(calls, found...)
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("text_%d", i+1)
	}
	return calls
}

// decodeTextCalls reads the JSON of a block: a call, or a list of calls.
func decodeTextCalls(block json.RawMessage) []Call {
	var list []textCall
	if json.Unmarshal(block, &list) != nil {
		list = make([]textCall, 1)
		if json.Unmarshal(block, &list[0]) != nil {
			return nil
		}
	}
	var calls []Call
	for _, c := range list {
		if c.Name == "" {
			return nil
		}
		args := cmp.Or(argsText(c.Arguments), argsText(c.Parameters), "{}")
		calls = append(calls, Call{Name: c.Name, Args: args})
	}
	return calls
}

// heldText holds back what may be the beginning of a call until the reply is whole.
type heldText struct {
	mark string // with which a call begins
	text []byte
	held bool
}

// add takes a piece of the answer and returns what can be passed on.
func (h *heldText) add(piece string) string {
	h.text = append(h.text, piece...)
	if h.held {
		return ""
	}
	at := len(h.text)
	if i := bytes.Index(h.text, []byte(h.mark)); i >= 0 {
		at, h.held = i, true
	} else {
		for n := min(len(h.mark)-1, len(h.text)); n > 0; n-- {
			if bytes.HasSuffix(h.text, []byte(h.mark[:n])) {
				at = len(h.text) - n
				break
			}
		}
	}
	out := string(h.text[:at])
	h.text = h.text[at:]
	return out
}
