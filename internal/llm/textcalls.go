package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// textCalls lets a model that cannot call tools call them in text: the tools stand in its
// instructions, a fenced block of its answer is a call, and results come as messages.
type textCalls struct{ model Model }

// A textCall is the content of a block that stands for a call.
type textCall struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // what some models call them
}

func (t *textCalls) Name() string       { return t.model.Name() }
func (t *textCalls) ContextTokens() int { return ContextTokens(t.model) }

func (t *textCalls) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	names := make([]string, len(req.Tools))
	for i, tool := range req.Tools {
		names[i] = tool.Name
	}
	return func(yield func(Delta, error) bool) {
		var held heldText
		for d, err := range t.model.Reply(ctx, withToolsInText(req)) {
			switch {
			case err != nil:
				yield(Delta{}, err)
				return
			case d.Reply != nil:
				reply, rest := *d.Reply, held.text
				if text, calls := parseTextCalls(reply.Text, names); len(calls) > 0 && len(names) > 0 {
					reply.Text, reply.Calls, reply.Stop, rest = text, append(reply.Calls, calls...), stopCalls, ""
				}
				if rest != "" && !yield(Delta{Text: rest}, nil) {
					return
				}
				yield(Delta{Reply: &reply}, nil)
				return
			default:
				if d.Text = held.add(d.Text); d != (Delta{}) && !yield(d, nil) {
					return
				}
			}
		}
	}
}

// withToolsInText puts the tools of a request into its instructions, and calls and results
// of the conversation into its texts. No two messages of one role follow each other: some
// models are refused such a conversation.
func withToolsInText(req Request) Request {
	if len(req.Tools) > 0 {
		req.System = strings.TrimSpace(req.System + "\n\n" + toolInstructions(req.Tools))
	}
	req.Tools = nil
	req.History, req.Messages = nil, joinRoles(append(textOnly(req.History), textOnly(req.Messages)...))
	return req
}

// toolInstructions says which tools there are and how a text calls one.
func toolInstructions(tools []Tool) string {
	var b strings.Builder
	b.WriteString("## Tools\nTo use a tool, write a block like this and nothing after it:\n\n```tool\n{\"name\": \"NAME\", \"arguments\": {}}\n```\n\n" +
		"Its result comes as the next message. Once you know enough, answer in words, without such a block.\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n### %s\n%s\nArguments, as JSON Schema: %s\n", t.Name, strings.TrimSpace(t.Description), t.Schema)
	}
	return strings.TrimSpace(b.String())
}

func textOnly(list []Message) []Message {
	out := make([]Message, 0, len(list))
	for _, m := range list {
		switch {
		case m.Role == ToolRole && m.Failed:
			m = Message{Role: User, Text: fmt.Sprintf("[%s failed]\n%s", m.Name, m.Text)}
		case m.Role == ToolRole:
			m = Message{Role: User, Text: fmt.Sprintf("[Result of %s]\n%s", m.Name, m.Text)}
		case len(m.Calls) > 0:
			parts := []string{m.Text}
			for _, c := range m.Calls {
				parts = append(parts, callText(c))
			}
			m = Message{Role: m.Role, Text: strings.TrimSpace(strings.Join(parts, "\n"))}
		}
		out = append(out, m)
	}
	return out
}

// callText is a call as a model writes it in text.
func callText(c Call) string {
	args := json.RawMessage(objectArgs(c.Args))
	raw, err := json.Marshal(textCall{Name: c.Name, Arguments: args})
	if err != nil {
		return ""
	}
	return "```tool\n" + string(raw) + "\n```"
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

// textBlock matches what may be a call: a fenced block, whose end may be missing, or the
// tags that several models were trained with.
var textBlock = regexp.MustCompile("(?s)```(\\w*)[ \t]*\r?\n(.*?)(?:```|$)|<(tool_call)>(.*?)(?:</tool_call>|$)")

// parseTextCalls finds the calls in a text and returns what stands before the first. A
// block counts if it names an offered tool, or if it is marked as a call.
func parseTextCalls(text string, names []string) (before string, calls []Call) {
	before = text
	for _, at := range textBlock.FindAllStringSubmatchIndex(text, maxCalls) {
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return text[at[2*i]:at[2*i+1]]
		}
		found := decodeTextCalls(part(2)+part(4), names, part(3) != "" || strings.HasPrefix(part(1), "tool"))
		if len(found) > 0 && len(calls) == 0 {
			before = text[:at[0]]
		}
		calls = append(calls, found...)
	}
	if whole := strings.TrimSpace(text); len(calls) == 0 && strings.HasPrefix(whole, "{") {
		if calls = decodeTextCalls(whole, names, false); len(calls) > 0 {
			before = ""
		}
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("text_%d", i+1)
	}
	return strings.TrimSpace(before), calls
}

// decodeTextCalls reads the JSON of a block: a call, or a list of calls.
func decodeTextCalls(block string, names []string, marked bool) []Call {
	block = strings.TrimSpace(block)
	var list []textCall
	if json.Unmarshal([]byte(block), &list) != nil {
		var one textCall
		object, ok := findObject(block)
		if !ok || json.Unmarshal([]byte(object), &one) != nil {
			return nil
		}
		list = []textCall{one}
	}
	var calls []Call
	for _, c := range list {
		if c.Name == "" || !marked && !slices.Contains(names, c.Name) {
			continue
		}
		args := argsText(c.Arguments)
		if args == "" {
			args = argsText(c.Parameters)
		}
		if args == "" {
			args = "{}"
		}
		calls = append(calls, Call{Name: c.Name, Args: args})
	}
	return calls
}

// heldText holds back what may be the beginning of a call until the reply is whole.
type heldText struct {
	text string
	said bool // something was passed on
	held bool
}

// add takes a piece of the answer and returns what can be passed on.
func (h *heldText) add(piece string) string {
	h.text += piece
	if h.held {
		return ""
	}
	at := len(h.text)
	for _, mark := range []string{"```", "<tool_call>"} {
		if i := strings.Index(h.text, mark); i >= 0 {
			at, h.held = min(at, i), true
			continue
		}
		for n := min(len(mark)-1, len(h.text)); n > 0; n-- {
			if strings.HasSuffix(h.text, mark[:n]) {
				at = min(at, len(h.text)-n)
				break
			}
		}
	}
	if begin := strings.TrimSpace(h.text); !h.said && strings.HasPrefix(begin, "{") {
		at, h.held = 0, true
	}
	out := h.text[:at]
	h.text = h.text[at:]
	h.said = h.said || strings.TrimSpace(out) != ""
	return out
}
