package nlq_test

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/eval"
	"interlock/internal/nlq"
	"interlock/internal/schema"
)

var dialogues = flag.String("dialogues", "", "play the dialogues of this folder instead of those beside the repository")

// TestBusinessDialogues plays conversations of people of four businesses and holds what they
// may expect without a model: few wrong answers.
func TestBusinessDialogues(t *testing.T) {
	t.Parallel()
	dir := *dialogues
	if dir == "" {
		dir = generateBusinesses(t)
	}
	list, err := eval.LoadDialogues(dir)
	if err != nil {
		t.Fatal(err)
	}
	stores := map[string]*store{}
	var turns []eval.TurnRecord
	for _, d := range list {
		s := stores[d.Dataset]
		if s == nil {
			s = openFolder(t, filepath.Join(dir, d.Dataset))
			stores[d.Dataset] = s
		}
		records, err := d.Play(s.talk(), func(sql string) (eval.Result, error) { return run(s.db, sql) })
		if err != nil {
			t.Error(err)
		}
		turns = append(turns, records...)
	}
	sum := eval.SummariseDialogues(turns)
	t.Log(sum.String())
	if *dialogues == "" && (sum.All.RightShare() < 0.60 || sum.All.WrongShare() > 0.03 || sum.All.Precision() < 0.93) {
		t.Errorf("right %.3f, wrong %.3f, precision %.3f; to reach 0.60, 0.03 and 0.93", sum.All.RightShare(), sum.All.WrongShare(), sum.All.Precision())
	}
	if *failures != "" {
		var b strings.Builder
		for _, r := range turns {
			fmt.Fprintf(&b, "%s %s.%d [%s %s] %s\n    %s\n    %s\n", strings.ToUpper(string(r.Verdict)), r.Dialogue, r.Number, r.Turn.Kind, r.Turn.Expect, r.Turn.Say, strings.ReplaceAll(r.Text, "\n", " "), strings.ReplaceAll(r.SQL, "\n", " "))
		}
		if err := os.WriteFile(*failures, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// generateBusinesses makes the data of the businesses beside the repository, or skips.
func generateBusinesses(t *testing.T) string {
	t.Helper()
	src := filepath.Join("..", "..", "..", "shared", "bench", "business")
	raw, err := os.ReadFile(filepath.Join(src, "dialogues.json"))
	if err != nil {
		t.Skip("no dialogues with known answers beside the repository (files outside)")
	}
	dir := t.TempDir()
	if out, err := exec.Command("python3", filepath.Join(src, "generate.py"), dir).CombinedOutput(); err != nil {
		t.Skipf("making the data: %v: %s (python3)", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "dialogues.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A store is a folder of CSV files as an SQLite database with an index.
type store struct {
	db     *sql.DB
	schema schema.Dataset
	index  *nlq.Index
}

// talk starts a conversation.
func (s *store) talk() func(text string) (eval.Replied, error) {
	var history []nlq.Turn
	return func(text string) (eval.Replied, error) {
		a := nlq.Plan(nlq.Question{Text: text, Index: s.index, History: history})
		history = append(history, nlq.Turn{Text: text})
		r := eval.Replied{Text: a.Declined, Asked: len(a.Questions) > 0 && a.Declined == ""}
		for _, q := range a.Questions {
			r.Text += q.Question
			for _, alt := range q.Alternatives {
				r.Text += " / " + alt.Text
			}
		}
		if !a.Sure() {
			return r, nil
		}
		var err error
		if r.SQL, err = a.Plan.SQLFor(dialect.SQLite, s.schema); err != nil {
			r.Text = err.Error() // SQLite has no median
			return r, nil
		}
		r.Text = a.Explain
		r.Result, err = run(s.db, r.SQL)
		if err != nil {
			return r, fmt.Errorf("%s: %w", r.SQL, err)
		}
		return r, nil
	}
}

var (
	wholeForm = regexp.MustCompile(`^-?\d{1,15}$`)
	partForm  = regexp.MustCompile(`^-?\d+(\.\d+)?$`)
	dateForm  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	timeForm  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$`)
)

// openFolder loads every CSV file of a folder as the runner beside the repository does: an
// empty field is NULL, true is 1.
func openFolder(t *testing.T, dir string) *store {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	s := &store{db: db, schema: schema.Dataset{ID: filepath.Base(dir)}}
	files, _ := filepath.Glob(filepath.Join(dir, "*.csv"))
	var values []nlq.ColumnValues
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, s.addTable(t, strings.TrimSuffix(filepath.Base(path), ".csv"), rows)...)
	}
	var raw struct {
		Tables map[string]struct {
			Description string
			Columns     map[string]string
		}
		Glossary map[string]string
	}
	text, err := os.ReadFile(filepath.Join(dir, "data_dictionary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	dict := schema.Dictionary{Tables: map[string]schema.TableText{}, Glossary: raw.Glossary}
	for name, x := range raw.Tables {
		dict.Tables[name] = schema.TableText{Text: x.Description, Columns: x.Columns}
	}
	s.index = nlq.NewIndex(s.schema, values, dict)
	return s
}

func (s *store) addTable(t *testing.T, name string, rows [][]string) []nlq.ColumnValues {
	t.Helper()
	table := schema.Table{Name: name, Rows: int64(len(rows) - 1)}
	head, body := rows[0], rows[1:]
	var out []nlq.ColumnValues
	kinds := make([]string, len(head))
	for i, h := range head {
		all := func(ok func(string) bool) bool {
			n := 0
			for _, r := range body {
				if r[i] == "" {
					continue
				}
				if n++; !ok(r[i]) {
					return false
				}
			}
			return n > 0
		}
		seen := map[string]bool{}
		for _, r := range body {
			seen[r[i]] = true
		}
		switch {
		case all(func(v string) bool { return v == "true" || v == "false" }):
			kinds[i] = "BOOLEAN"
		case all(wholeForm.MatchString):
			kinds[i] = "BIGINT"
		case all(partForm.MatchString):
			kinds[i] = "DOUBLE"
		case all(dateForm.MatchString):
			kinds[i] = "DATE"
		case all(timeForm.MatchString):
			kinds[i] = "TIMESTAMP"
		default:
			kinds[i] = "VARCHAR"
			v := nlq.ColumnValues{Table: name, Column: h, Complete: true}
			for x := range seen {
				if x != "" {
					v.Values = append(v.Values, x)
				}
			}
			out = append(out, v)
		}
		table.Columns = append(table.Columns, schema.Column{Name: h, Type: schema.ParseType(kinds[i])})
		if i == 0 && len(seen) == len(body) && !seen[""] {
			table.Key = []string{h}
		}
	}
	s.schema.Tables = append(s.schema.Tables, table)
	cols := make([]string, len(head))
	for i, h := range head {
		cols[i] = fmt.Sprintf("%q", h)
	}
	if _, err := s.db.Exec(fmt.Sprintf("CREATE TABLE %q (%s)", name, strings.Join(cols, ","))); err != nil {
		t.Fatal(err)
	}
	tx, err := s.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	insert, err := tx.Prepare(fmt.Sprintf("INSERT INTO %q VALUES (%s)", name, strings.TrimSuffix(strings.Repeat("?,", len(head)), ",")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = insert.Close() }()
	for _, r := range body {
		args := make([]any, len(r))
		for i, v := range r {
			switch {
			case v == "":
			case kinds[i] == "BOOLEAN":
				args[i] = v == "true"
			case kinds[i] == "BIGINT":
				var n int64
				fmt.Sscan(v, &n)
				args[i] = n
			case kinds[i] == "DOUBLE":
				var n float64
				fmt.Sscan(v, &n)
				args[i] = n
			default:
				args[i] = v
			}
		}
		if _, err := insert.Exec(args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return out
}
