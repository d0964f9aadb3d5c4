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
	"interlock/internal/schema"
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

// TestNumberOfAText: a phone number is what the column phone holds; the number of flights is how many there are.
func TestNumberOfAText(t *testing.T) {
	t.Parallel()
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	x := nlq.NewIndex(schema.Dataset{ID: "d", Tables: []schema.Table{
		{Name: "clubs", Rows: 9, Key: []string{"club_id"}, Columns: []schema.Column{column("club_id", "BIGINT"), column("name", "VARCHAR"), column("phone", "VARCHAR")}},
		{Name: "matches", Rows: 90, Columns: []schema.Column{column("match_no", "BIGINT"), column("club_id", "BIGINT")}},
	}}, nil, schema.Dictionary{})
	for question, want := range map[string]string{"How many clubs have no phone number?": "phone IS NULL", "Which club has the most matches?": "count(*)", "Which club has most number of matches?": "count(*)"} {
		if a := nlq.Plan(nlq.Question{Text: question, Index: x}); !a.Sure() || !strings.Contains(a.SQL, want) {
			t.Errorf("%s: %q lacks %q: %+v", question, a.SQL, want, a)
		}
	}
}
