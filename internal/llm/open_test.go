package llm_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

func TestOpen(t *testing.T) {
	offline := llm.Script()
	for name, tt := range map[string]struct {
		config llm.Config
		want   string // name of the model
		code   fault.Code
		words  string
	}{
		"auto, no key":           {llm.Config{Offline: offline}, "scripted/lines", "", ""},
		"auto, both keys":        {llm.Config{Provider: "auto", OpenAIKey: "k", AnthropicKey: "k", Offline: offline}, "openai/" + llm.DefaultOpenAI, "", ""},
		"auto, Anthropic's key":  {llm.Config{AnthropicKey: "k", Offline: offline}, "anthropic/" + llm.DefaultAnthropic, "", ""},
		"auto, own server":       {llm.Config{OpenAIBaseURL: "http://localhost:11434/v1", Model: "llama3.3"}, "openai/llama3.3", "", ""},
		"auto, nothing at all":   {llm.Config{}, "", fault.ModelKeyMissing, "OPENAI_API_KEY"},
		"offline despite a key":  {llm.Config{Provider: "offline", OpenAIKey: "k", Offline: offline}, "scripted/lines", "", ""},
		"named model":            {llm.Config{OpenAIKey: "k", Model: "gpt-4.1"}, "openai/gpt-4.1", "", ""},
		"OpenAI without key":     {llm.Config{Provider: "openai", AnthropicKey: "k"}, "", fault.ModelKeyMissing, "OPENAI_API_KEY is not set"},
		"Anthropic without key":  {llm.Config{Provider: "anthropic", OpenAIKey: "k"}, "", fault.ModelKeyMissing, "ANTHROPIC_API_KEY is not set"},
		"own server, no model":   {llm.Config{OpenAIBaseURL: "http://localhost:11434/v1"}, "", fault.BadSetting, "no model is named"},
		"no address":             {llm.Config{OpenAIBaseURL: "localhost:11434", Model: "m"}, "", fault.BadSetting, "http or https"},
		"unknown provider":       {llm.Config{Provider: "gemini"}, "", fault.BadSetting, `"gemini"`},
		"fallback without a key": {llm.Config{OpenAIKey: "k", Fallback: []llm.Config{{Provider: "anthropic"}}}, "", fault.ModelKeyMissing, "fallback model 1"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := llm.Open(tt.config)
			if tt.code != "" {
				if !fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.words) {
					t.Fatalf("error %v, want %s with %q", err, tt.code, tt.words)
				}
				return
			}
			if err != nil || m.Name() != tt.want {
				t.Fatalf("%v, %v; want %s", m, err, tt.want)
			}
		})
	}
}

// Without a key no authorization is sent to a server of one's own, and nothing
// of the environment gets into a request.
func TestOpenEnvironment(t *testing.T) {
	for _, v := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"} {
		t.Setenv(v, "http://environment.example")
	}
	s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { hello(w, r) })
	for _, provider := range both {
		c := s.config(t, provider)
		c.OpenAIKey = ""
		if _, _, err := hear(t.Context(), open(t, c), ask("x")); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.heads[0].Get("Authorization"); got != "" {
		t.Errorf("authorization %q", got)
	}
	for _, h := range s.heads {
		if strings.Contains(fmt.Sprint(h), "environment") {
			t.Errorf("headers %v", h)
		}
	}
}

func TestConfigHidesKeys(t *testing.T) {
	c := llm.Config{OpenAIKey: "sk-secret-1", AnthropicKey: "sk-secret-2", Fallback: []llm.Config{{OpenAIKey: "sk-secret-3"}}}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c)
	m := open(t, c)
	for _, s := range []string{string(raw), log.String(), fmt.Sprintf("%v %+v %#v %s", c, c, c, c), fmt.Sprint([]llm.Config{c}), m.Name()} {
		if strings.Contains(s, "sk-secret") {
			t.Errorf("a key shows in %s", s)
		}
	}
}

func TestFallback(t *testing.T) {
	s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/messages") {
			hello(w, r)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	c := s.config(t, llm.OpenAI)
	c.Fallback = []llm.Config{{Provider: llm.Anthropic, Model: "other"}}
	m := open(t, c)
	_, reply, err := hear(t.Context(), m, ask("x"))
	if err != nil || reply.Model != "anthropic/other" {
		t.Fatalf("%v, %v", reply, err)
	}
	if m.Name() != "openai/test-model" {
		t.Errorf("name %q", m.Name())
	}
}

func TestChain(t *testing.T) {
	broken := func(text ...string) *llm.Scripted {
		return llm.Script(llm.Line{Text: text, Fault: fault.New(fault.ModelTimeout, "too slow")})
	}
	t.Run("all fail", func(t *testing.T) {
		last := llm.Script(llm.Line{Fault: fault.New(fault.ModelRateLimited, "too many")})
		_, _, err := hear(t.Context(), llm.Chain(nil, broken(), last), ask("x"))
		wantCode(t, err, fault.ModelRateLimited, "all 2 models failed: too slow; too many")
	})
	t.Run("not after text", func(t *testing.T) {
		next := llm.Script(llm.Say("never"))
		deltas, _, err := hear(t.Context(), llm.Chain(nil, broken("hel"), next), ask("x"))
		wantCode(t, err, fault.ModelTimeout)
		if len(deltas) != 1 || len(next.Requests()) != 0 {
			t.Errorf("deltas %q, %d requests to the next", deltas, len(next.Requests()))
		}
	})
	t.Run("not after a refusal", func(t *testing.T) {
		next := llm.Script(llm.Say("never"))
		_, _, err := hear(t.Context(), llm.Chain(nil, llm.Script(llm.Line{Fault: fault.New(fault.ModelRefused, "no")}), next), ask("x"))
		wantCode(t, err, fault.ModelRefused)
		if len(next.Requests()) != 0 {
			t.Error("the next model was asked")
		}
	})
}
