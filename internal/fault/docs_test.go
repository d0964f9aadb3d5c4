package fault_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"interlock/internal/fault"
)

var update = flag.Bool("update", false, "write docs/codes.md anew")

const docs = "../../docs/codes.md"

// TestDocumentedCodes holds docs/codes.md equal to the table.
func TestDocumentedCodes(t *testing.T) {
	want := document()
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run go test ./internal/fault -update", docs)
	}
}

// TestTableIsWhole asks of every row what its readers rely on.
func TestTableIsWhole(t *testing.T) {
	for _, e := range fault.Table() {
		if e.Meaning == "" || e.Advice == "" {
			t.Errorf("%s lacks its meaning or its advice", e.Code)
		}
		if e.Status < 200 || e.Status > 599 {
			t.Errorf("%s has no HTTP status: %d", e.Code, e.Status)
		}
		if !e.Code.Known() || e.Code.Entry() != e {
			t.Errorf("%s is not found by its code", e.Code)
		}
	}
}

func document() string {
	var b strings.Builder
	b.WriteString(`# Codes

Everything that can go wrong or be refused has one code, in events, capsules, logs, problem documents (RFC 9457) and exit
codes alike. The table is ` + "`internal/fault/codes.go`" + `; the running server gives it at ` + "`GET /api/codes`" + `.
Codes are stable. *Curable* means that another call with other arguments may succeed. A status of 200 is no error of the request:
the run ended or the call was answered for this reason.

| code | meaning | HTTP | curable | hint for the model | advice for the person |
|---|---|---|---|---|---|
`)
	for _, e := range fault.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %s | %s |\n", e.Code, e.Meaning, e.Status, map[bool]string{true: "yes"}[e.Curable], e.Hint, e.Advice)
	}
	return b.String()
}
