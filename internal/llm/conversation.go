package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// conversation joins history and this turn into a list that every provider
// accepts: it begins and ends with somebody else than the assistant, each call
// is followed at once by exactly one result, ids are unique and of the allowed
// form, nothing is empty. A result that answers no open call is shown as such
// and never attached to another call. past counts the messages of the history.
func conversation(history, turn []Message) (out []Message, past int) {
	all := append(append(make([]Message, 0, len(history)+len(turn)), history...), turn...)
	used := map[string]bool{}
	past = -1
	for i := 0; i < len(all); {
		if i >= len(history) && past < 0 {
			past = len(out)
		}
		m := all[i]
		i++
		switch {
		case m.Role == ToolRole:
			out = append(out, strayResult(m))
		case m.Role == Assistant && len(m.Calls) > 0:
			n := i
			for n < len(all) && all[n].Role == ToolRole {
				n++
			}
			out = append(out, pairResults(m, all[i:n], used)...)
			i = n
		case strings.TrimSpace(m.Text) != "":
			out = append(out, Message{Role: m.Role, Text: m.Text})
		}
	}
	if past < 0 {
		past = len(out)
	}
	if len(out) == 0 || out[0].Role == Assistant {
		out = append([]Message{{Role: User, Text: "Begin."}}, out...)
		past++
	}
	if out[len(out)-1].Role == Assistant {
		out = append(out, Message{Role: User, Text: "Go on."})
	}
	return out, min(past, len(out))
}

// pairResults returns an assistant's message and one result for each of its calls,
// in the order of the calls, then the results that belong to none of them.
func pairResults(m Message, results []Message, used map[string]bool) []Message {
	msg := Message{Role: Assistant, Text: m.Text}
	out := []Message{{}}
	taken := make([]bool, len(results))
	for _, c := range m.Calls {
		id := wireID(c.ID, used)
		msg.Calls = append(msg.Calls, Call{ID: id, Name: c.Name, Args: objectArgs(c.Args)})
		answer := Message{Role: ToolRole, CallID: id, Name: c.Name, Failed: true, Text: "No result of this call was recorded."}
		for i, r := range results {
			if !taken[i] && r.CallID == c.ID {
				taken[i] = true
				answer.Text, answer.Failed = r.Text, r.Failed
				break
			}
		}
		out = append(out, answer)
	}
	out[0] = msg
	for i, r := range results {
		if !taken[i] {
			out = append(out, strayResult(r))
		}
	}
	return out
}

// strayResult turns a result that answers no open call into a message of the user.
func strayResult(m Message) Message {
	return Message{Role: User, Text: fmt.Sprintf("[A result of %q came for the call %q, which was not waiting for one: %s]", m.Name, m.CallID, m.Text)}
}

var plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

// wireID returns an id that providers accept and that no earlier call has.
func wireID(id string, used map[string]bool) string {
	if !plainID.MatchString(id) || used[id] {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, len(used)))
		id = "call_" + hex.EncodeToString(sum[:12])
	}
	used[id] = true
	return id
}

// objectArgs returns arguments that are a JSON object, as all providers demand of
// calls in the past, whatever the model once sent.
func objectArgs(args string) string {
	if isObject(args) {
		return args
	}
	if args = strings.TrimSpace(args); args == "" {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"arguments": args})
	if err != nil {
		return "{}"
	}
	return string(b)
}
