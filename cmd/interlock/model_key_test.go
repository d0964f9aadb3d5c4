package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

// TestGivenKey holds that a key which a person gives is tried, kept for the server alone,
// used by every process, never told, and dropped again.
func TestGivenKey(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-0123456789abcdefWXYZ"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":"large"},{"id":"small"}]}`)
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "models.json")
	open := func(c llm.Config) *models {
		c.Offline, c.AnthropicBaseURL = llm.NewOffline(nil), s.URL
		m := &models{file: file, base: c}
		if err := m.refresh(); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m, other := open(llm.Config{}), open(llm.Config{})
	for _, c := range []struct {
		name  string
		given llm.GivenKey
		m     *models
		want  string
	}{
		{"a wrong key", llm.GivenKey{Provider: llm.Anthropic, Key: "sk-ant-wrong-wrong"}, m, "does not accept this key"},
		{"no key", llm.GivenKey{Provider: llm.Anthropic, Key: "two words of text"}, m, "this is no key"},
		{"a model that it does not offer", llm.GivenKey{Provider: llm.Anthropic, Key: key, Model: "larger"}, m, `offers no model "larger"`},
		{"a provider without keys", llm.GivenKey{Provider: llm.Offline, Key: key}, m, "no provider"},
		{"a model of the settings", llm.GivenKey{Provider: llm.Anthropic, Key: key}, open(llm.Config{OpenAIKey: "sk-of-the-environment"}), "the settings of the server name the model"},
	} {
		err := c.m.GiveKey(t.Context(), c.given)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(fmt.Sprintf("%+v %s", err, fault.From(err).Suggestion), c.given.Key) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a key that was refused is kept")
	}

	given := llm.GivenKey{Provider: llm.Anthropic, Key: key, Model: "small", GivenBy: "ann"}
	if err := m.GiveKey(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*models{m, other} {
		if got, err := p.Model(""); err != nil || got.Name() != "anthropic/small" {
			t.Errorf("%v answers, %v", got, err)
		}
	}
	v, err := m.Models(t.Context())
	if err != nil || v.Key == nil || v.Key.End != "WXYZ" || v.BuiltIn {
		t.Errorf("%+v %v", v, err)
	}
	raw, err := json.Marshal(v)
	if told := fmt.Sprintf("%s %v %+v %#v %s", raw, given, given, given, m.used); err != nil || strings.Contains(told, key) {
		t.Errorf("the key is told: %s %v", told, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if got, err := open(llm.Config{OpenAIKey: "sk-of-the-environment"}).Model(""); err != nil || !strings.HasPrefix(got.Name(), "openai/") {
		t.Errorf("%v answers, %v: the settings go before", got, err)
	}
	if err := other.ForgetKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Model(""); err != nil || got.Name() != llm.Offline {
		t.Errorf("%v answers, %v", got, err)
	}
	if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), key) {
		t.Errorf("the key is still kept: %s %v", raw, err)
	}
}
