package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/server"
)

// oneMeaning is a semantic model of version 1.
type oneMeaning struct {
	text   string
	chosen []string
}

func (m *oneMeaning) Meaning(context.Context, string) (any, error) {
	return map[string]any{"text": m.text, "version": "1"}, nil
}

func (m *oneMeaning) ReplaceMeaning(_ context.Context, _, version, _, text string) (any, error) {
	switch {
	case version != "1":
		return nil, fault.New(fault.Conflict, "changed meanwhile")
	case text == "wrong":
		return nil, fault.New(fault.BadMeaning, "it has errors").With([]map[string]any{{"line": 3}})
	}
	m.text = text
	return m.Meaning(context.Background(), "")
}

func (m *oneMeaning) MeaningChoices(context.Context, string) (any, error) {
	return map[string]any{"choices": m.chosen}, nil
}

func (m *oneMeaning) RememberChoice(ctx context.Context, _, user, term, reading string) (any, error) {
	m.chosen = append(m.chosen, user+":"+term+"="+reading)
	return m.MeaningChoices(ctx, "")
}

func (m *oneMeaning) ForgetChoice(ctx context.Context, _, _, choice string) (any, error) {
	if choice != "c1" {
		return nil, fault.New(fault.NotFound, "no choice %q", choice)
	}
	m.chosen = nil
	return m.MeaningChoices(ctx, "")
}

func TestMeaningRoutes(t *testing.T) {
	r := start(t, func(c *server.Config) { c.Meanings = &oneMeaning{text: "first"} })
	for _, tt := range []struct {
		method, body string
		status       int
		has          string
	}{
		{"GET", "", http.StatusOK, `"text":"first"`},
		{"PUT", `{"text":"wrong","version":"1"}`, http.StatusUnprocessableEntity, `"line":3`},
		{"PUT", `{"text":"second","version":"0"}`, http.StatusConflict, "changed meanwhile"},
		{"PUT", `{"text":"second","version":"1"}`, http.StatusOK, `"text":"second"`},
		{"PUT", `{"text":"` + strings.Repeat("x", 2<<20) + `","version":"1"}`, http.StatusRequestEntityTooLarge, ""},
	} {
		res, text := r.do(t, tt.method, "/api/datasets/shop/meaning", tt.body)
		if res.StatusCode != tt.status || !strings.Contains(strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(tt.has, " ", "")) {
			t.Errorf("%s %.40s: %d %.300s, want %d %s", tt.method, tt.body, res.StatusCode, text, tt.status, tt.has)
		}
	}
}

func TestMeaningChoiceRoutes(t *testing.T) {
	r := start(t, func(c *server.Config) { c.Meanings = &oneMeaning{} })
	for _, tt := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"POST", "", `{"term":"when","reading":"the order date of orders"}`, http.StatusOK, "when=the order date of orders"},
		{"GET", "", "", http.StatusOK, "when=the order date of orders"},
		{"POST", "", `{"term":"","reading":"x"}`, http.StatusBadRequest, ""},
		{"POST", "", `{"term":"x","reading":"` + strings.Repeat("y", 300) + `"}`, http.StatusBadRequest, ""},
		{"DELETE", "/c2", "", http.StatusNotFound, ""},
		{"DELETE", "/c1", "", http.StatusOK, `"choices":null`},
	} {
		res, text := r.do(t, tt.method, "/api/datasets/shop/meaning/choices"+tt.path, tt.body)
		if res.StatusCode != tt.status || !strings.Contains(text, tt.has) {
			t.Errorf("%s %s %.60s: %d %.300s, want %d %s", tt.method, tt.path, tt.body, res.StatusCode, text, tt.status, tt.has)
		}
	}
}

// verifiedList is a list of verified questions.
type verifiedList struct{ questions []string }

func (v *verifiedList) ListVerified(context.Context, string) (any, error) {
	return map[string]any{"verified": v.questions}, nil
}

func (v *verifiedList) AddVerified(ctx context.Context, _, user, question string, plan json.RawMessage) (any, error) {
	v.questions = append(v.questions, user+":"+question+"="+string(plan))
	return v.ListVerified(ctx, "")
}

func (v *verifiedList) RemoveVerified(ctx context.Context, _, _, id string) (any, error) {
	if id != "v1" {
		return nil, fault.New(fault.NotFound, "no question %q", id)
	}
	v.questions = nil
	return v.ListVerified(ctx, "")
}

// TestVerifiedRoutes keeps, lists and forgets verified questions.
func TestVerifiedRoutes(t *testing.T) {
	r := start(t, func(c *server.Config) { c.Verified = &verifiedList{} })
	const path = "/api/datasets/shop/meaning/verified"
	for _, tt := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"GET", path, "", http.StatusOK, `"verified":null`},
		{"POST", path, `{"question":"","plan":{}}`, http.StatusBadRequest, "question"},
		{"POST", path, `{"question":"How many?","plan":{"table":"orders"}}`, http.StatusOK, `How many?={\"table\":\"orders\"}`},
		{"DELETE", path + "/v2", "", http.StatusNotFound, "no question"},
		{"DELETE", path + "/v1", "", http.StatusOK, `"verified":null`},
	} {
		res, text := r.do(t, tt.method, tt.path, tt.body)
		if res.StatusCode != tt.status || !strings.Contains(text, tt.has) {
			t.Errorf("%s %s: %d %.300s", tt.method, tt.path, res.StatusCode, text)
		}
	}
}
