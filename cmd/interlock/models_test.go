package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

// TestForgetDuringProbe holds that taking models back wins over an agreement whose model
// has not answered yet, whichever process takes them back, and whatever was agreed before.
func TestForgetDuringProbe(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		once.Do(func() { close(asked) })
		<-answer
		fmt.Fprint(w, `{"id":"c","choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	open := func(file string) *models {
		m := &models{file: file, base: llm.Config{Offline: llm.NewOffline(nil)}}
		if err := m.refresh(); err != nil {
			t.Fatal(err)
		}
		return m
	}
	file := filepath.Join(t.TempDir(), "models.json")
	m, other := open(file), open(file)
	failed := make(chan error, 1)
	go func() {
		_, err := m.agree(context.Background(), llm.LocalModel{URL: s.URL + "/v1", Model: "m"})
		failed <- err
	}()
	<-asked
	if err := other.ForgetLocal(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(answer)
	if err := <-failed; !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), "has changed while m was asked") {
		t.Errorf("agreeing gave %v", err)
	}
	if got, err := m.Model(""); err != nil || got.Name() != llm.Offline {
		t.Errorf("%v answers, %v", got, err)
	}
	if _, err := m.agree(t.Context(), llm.LocalModel{URL: s.URL + "/v1", Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Model(""); err != nil || got.Name() != "local/m" {
		t.Errorf("%v answers, %v", got, err)
	}
}
