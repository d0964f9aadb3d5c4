package nlq_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/dialect"
	"interlock/internal/nlq"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads questions over the small databases and compares what became of
// them: the plan as SQL, a question back, or a refusal.
func TestGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b *base
	var got bytes.Buffer
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			b = small(t, name)
			fmt.Fprintf(&got, "# %s\n\n", name)
			continue
		}
		a := nlq.Plan(nlq.Question{Text: line, Index: b.index, Now: today})
		fmt.Fprintln(&got, line)
		switch {
		case a.Declined != "":
			fmt.Fprintf(&got, "declined: %s\n\n", a.Declined)
			continue
		case len(a.Questions) > 0 && len(a.Questions[0].Alternatives) > 1:
			fmt.Fprintf(&got, "asked: %s", a.Questions[0].Question)
			for _, alt := range a.Questions[0].Alternatives {
				fmt.Fprintf(&got, " [%s]", alt.Text)
			}
			got.WriteString("\n\n")
			continue
		}
		fmt.Fprintf(&got, "%s: %s\n", a.Quality, strings.ReplaceAll(a.SQL, "\n", " "))
		statement, err := a.Plan.SQLFor(dialect.SQLite, b.schema)
		if err != nil {
			t.Fatal(err)
		}
		r := b.query(t, statement)
		fmt.Fprintf(&got, "%s\n%s\n\n", a.Explain, nlq.AnswerText(line, a.Plan, r.Columns, r.Rows))
		if v := nlq.Judge(nlq.Question{Text: line, Index: b.index, Now: today}, a.Plan, nlq.Result{Columns: r.Columns, Rows: r.Rows}); a.Quality == nlq.High && v.Satisfaction != nlq.Satisfied {
			t.Errorf("%s: the judge doubts it: %s", line, v.Notes)
		}
	}
	const golden = "testdata/questions.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
