package llm

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"interlock/internal/fault"
)

// FuzzStream reads hostile streams with both parsers: each ends in a valid reply
// or in a fault of the model, and the text is what was emitted.
func FuzzStream(f *testing.F) {
	f.Add("data: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"hi\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	f.Add("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":3}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Add("{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"stop_reason\":\"end_turn\",\n\"choices\":[{\"message\":{\"content\":\"hi\"}}]}")
	f.Add(":\r\ndata:{\"error\":{\"type\":\"overloaded_error\"}}\r\n\r\n")
	e := &endpoint{provider: "p", model: "m"}
	f.Fuzz(func(t *testing.T, stream string) {
		for _, read := range []func(*parse) error{
			func(p *parse) error { return p.readOpenAIStream(strings.NewReader(stream), func() {}) },
			func(p *parse) error { return p.readAnthropicStream(strings.NewReader(stream), &thinking{}) },
		} {
			var said strings.Builder
			p := &parse{emit: func(d Delta) bool { said.WriteString(d.Text); return true }}
			err := read(p)
			var r *Reply
			if !p.isFatal(err) {
				r, err = p.buildReply(e, "text/event-stream", err)
			}
			if err != nil {
				if f := e.fault(err); !strings.HasPrefix(string(f.Code), "model_") || !utf8.ValidString(f.Message) {
					t.Errorf("fault %v", f)
				}
				continue
			}
			if r.Text != said.String() {
				t.Errorf("text %q, emitted %q", r.Text, &said)
			}
			if r.Text == "" && len(r.Calls) == 0 {
				t.Error("an empty reply")
			}
			seen := map[string]bool{}
			for _, c := range r.Calls {
				if c.ID == "" || c.Name == "" || c.Args == "" || seen[c.ID] {
					t.Errorf("calls %v", r.Calls)
				}
				seen[c.ID] = true
			}
			if u := r.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.MicroUSD < 0 {
				t.Errorf("usage %+v", u)
			}
		}
	})
}

// A caller who leaves ends the parse at once.
func TestParseLeft(t *testing.T) {
	p := &parse{emit: func(Delta) bool { return false }}
	err := p.readOpenAIStream(strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"), nil)
	if !errors.Is(err, errLeft) {
		t.Fatal(err)
	}
}

// Whatever the log holds, what goes to a provider is a conversation that it accepts.
func TestConversation(t *testing.T) {
	id := rapid.SampledFrom([]string{"", "a", "b", "c d", strings.Repeat("x", 70)})
	text := rapid.SampledFrom([]string{"", " ", "hello"})
	msg := rapid.Custom(func(t *rapid.T) Message {
		m := Message{Role: rapid.SampledFrom([]Role{User, Assistant, ToolRole}).Draw(t, "role"), Text: text.Draw(t, "text")}
		switch m.Role {
		case Assistant:
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				m.Calls = append(m.Calls, Call{ID: id.Draw(t, "id"), Name: "f", Args: rapid.SampledFrom([]string{"", "{}", "x", `{"a":1}`}).Draw(t, "args")})
			}
		case ToolRole:
			m.CallID, m.Name = id.Draw(t, "id"), "f"
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		history, turn := rapid.SliceOf(msg).Draw(t, "history"), rapid.SliceOf(msg).Draw(t, "turn")
		out, past := conversation(history, turn)
		if past < 0 || past > len(out) {
			t.Fatalf("past %d of %d", past, len(out))
		}
		if out[0].Role != User || out[len(out)-1].Role == Assistant {
			t.Fatalf("begins or ends wrong: %v", out)
		}
		seen := map[string]bool{}
		results := 0
		for i, m := range out {
			switch m.Role {
			case ToolRole:
				results++
			case Assistant:
				if m.Text == "" && len(m.Calls) == 0 {
					t.Fatal("an empty message")
				}
				for j, c := range m.Calls {
					if seen[c.ID] || !plainID.MatchString(c.ID) || !isObject(c.Args) {
						t.Fatalf("call %+v", c)
					}
					seen[c.ID] = true
					if r := out[i+1+j]; r.Role != ToolRole || r.CallID != c.ID {
						t.Fatalf("call %s is followed by %+v", c.ID, r)
					}
				}
			case User:
				if strings.TrimSpace(m.Text) == "" {
					t.Fatal("an empty message")
				}
			}
		}
		if results != len(seen) {
			t.Fatalf("%d results for %d calls", results, len(seen))
		}
		stray := 0
		for _, m := range append(history, turn...) {
			if m.Role == ToolRole {
				stray++
			}
		}
		for _, m := range out {
			if m.Role == ToolRole && m.Text != "No result of this call was recorded." || strings.HasPrefix(m.Text, "[A result of") {
				stray--
			}
		}
		if stray != 0 {
			t.Fatalf("%d results got lost or were made up", stray)
		}
	})
}

func TestRedaction(t *testing.T) {
	e := newEndpoint(Config{OpenAIKey: "k-1", AnthropicKey: "k-2"}, OpenAI, "m", "http://user:pass-3@host/v1", "V")
	f := e.fault(errors.New("k-1 k-2 pass-3"))
	if f.Code != fault.ModelFailed || strings.Contains(f.Error()+f.Unwrap().Error(), "k-") || strings.Contains(f.Error(), "pass-3") {
		t.Error(f)
	}
}

// TestHeldTextIsNotCopied holds that a long call in text, in small pieces, is not copied
// whole for each of them.
func TestHeldTextIsNotCopied(t *testing.T) {
	held := heldText{mark: "```tool-x"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	shown := held.add("Look: ```to") + held.add("ol-x\n")
	for range 20_000 {
		shown += held.add("0123456789")
	}
	runtime.ReadMemStats(&after)
	if want := "```tool-x\n" + strings.Repeat("0123456789", 20_000); shown != "Look: " || string(held.text) != want {
		t.Errorf("%q was shown, %d bytes are held", shown, len(held.text))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("it took %d MB", used>>20)
	}
}
