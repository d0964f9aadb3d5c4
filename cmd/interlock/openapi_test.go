package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// TestOpenAPIFile holds web/types/openapi.json, of which the page's client is made, equal
// to what the server says. INTERLOCK_UPDATE=1 renews it.
func TestOpenAPIFile(t *testing.T) {
	t.Parallel()
	const file = "../../web/types/openapi.json"
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	var got json.RawMessage
	w.serve().call("GET", "/openapi.json", "", 200, &got)
	got = regexp.MustCompile(`("title": "Interlock",\s*"version": )"[^"]*"`).ReplaceAll(got, []byte(`$1"dev"`))
	got = append(bytes.TrimSpace(got), '\n')
	if os.Getenv("INTERLOCK_UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is old; renew it: INTERLOCK_UPDATE=1 go test ./cmd/interlock -run TestOpenAPIFile", file)
	}
}
