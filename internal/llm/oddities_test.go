package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/tool"
)

// An oddity is a case of testdata/oddities.txt.
type oddity struct {
	name, provider string
	events         []string
	whole          string // an answer that is no stream
	ended          bool   // the case ends its stream itself
	want           string
}

func readOddities(t *testing.T) []oddity {
	t.Helper()
	raw, err := os.ReadFile("testdata/oddities.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []oddity
	for text := range strings.SplitSeq(string(raw), "\n") {
		if name, ok := strings.CutPrefix(text, "## "); ok {
			all = append(all, oddity{name: name, provider: llm.OpenAI})
			continue
		}
		if len(all) == 0 || text == "" {
			continue
		}
		o := &all[len(all)-1]
		kind, rest, _ := strings.Cut(text, " ")
		switch kind {
		case "d":
			o.events = append(o.events, `{"id":"chatcmpl-1","choices":[{"index":0,"delta":`+rest+`}]}`)
		case "r":
			o.events, o.ended = append(o.events, rest), true
		case "a":
			o.provider, o.events = llm.Anthropic, append(o.events, rest)
		case "j":
			o.whole = rest
		case "=", "!":
			o.want = text
		default:
			t.Fatalf("%s: a line begins with %q", o.name, kind)
		}
	}
	return all
}

// send answers a request as the case says.
func (o oddity) send(w http.ResponseWriter) {
	switch {
	case o.whole != "":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(o.whole))
	case o.provider == llm.Anthropic:
		events := append([]string{`message_start {"type":"message_start","message":{"id":"m"}}`}, o.events...)
		stream(w, append(events, `message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `message_stop {"type":"message_stop"}`)...)
	case o.ended:
		stream(w, append(o.events, "[DONE]")...)
	default:
		stream(w, append(o.events, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")...)
	}
}

type pythonIn struct {
	Code    string `json:"code"`
	Timeout int    `json:"timeout,omitempty"`
}

type statementIn struct {
	DatasetID string `json:"dataset_id,omitempty"`
	SQL       string `json:"sql"`
}

func nothing[In any](context.Context, In) (struct{}, error) { return struct{}{}, nil }

// TestOddities sends what servers and models send, over HTTP and through the same
// clients, assembly and argument repair as in the program: each case ends in one right
// call, with what was rescued, or in one clear error.
func TestOddities(t *testing.T) {
	set := tool.NewSet(
		nil,
		tool.New(tool.Spec{Name: "run_python", Effect: tool.Writes, Main: "code"}, nothing[pythonIn]),
		tool.New(tool.Spec{Name: "run_sql", Effect: tool.Writes, Main: "sql"}, nothing[statementIn]),
	)
	cases := readOddities(t)
	if len(cases) < 80 {
		t.Errorf("%d cases, want at least 80", len(cases))
	}
	request := ask("x")
	request.Tools = []llm.Tool{{Name: "run_python"}, {Name: "run_sql"}}
	for _, o := range cases {
		t.Run(o.name, func(t *testing.T) {
			s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { o.send(w) })
			_, reply, err := hear(t.Context(), open(t, s.config(t, o.provider)), request)
			if got := outcomeOf(t, set, reply, err); got != o.want {
				t.Errorf("got  %s\nwant %s", got, o.want)
			}
		})
	}
}

// outcomeOf writes what came of a reply as the cases do.
func outcomeOf(t *testing.T, set *tool.Set, reply *llm.Reply, err error) string {
	t.Helper()
	if err != nil {
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			return "! " + string(f.Code)
		}
		return "! " + err.Error()
	}
	if len(reply.Calls) != 1 || reply.Calls[0].ID == "" {
		t.Fatalf("calls %+v, want one with an id", reply.Calls)
	}
	e, err := set.Get(reply.Calls[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	args, rescued, bad := e.Normalise(reply.Calls[0].Args, true)
	switch {
	case bad == nil && e.Empty(args):
		return "! " + string(e.EmptyRetry())
	case bad == nil:
		bad = e.Validate(args)
	}
	if bad != nil {
		if bad.Message == "" {
			t.Error("the error says nothing")
		}
		return "! " + string(bad.Code)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rescued)
	return strings.TrimSpace("= " + reply.Calls[0].Name + " " + string(raw) + " " + strings.Join(rescued, " "))
}
