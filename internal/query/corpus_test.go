package query_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

var update = flag.Bool("update", false, "write the golden lines of the corpus")

// A corpusCase is a statement and what is expected of it: the rule that refuses
// it, or what it touches.
type corpusCase struct {
	name, sql, want string
}

// readCorpus reads files of the form
//
//	=== name
//	statement
//	--- expectation
func readCorpus(tb testing.TB, path string) []corpusCase {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var out []corpusCase
	for _, block := range strings.Split(string(text), "=== ")[1:] {
		name, body, _ := strings.Cut(block, "\n")
		sql, want, _ := strings.Cut(body, "\n--- ")
		out = append(out, corpusCase{name, strings.TrimRight(sql, "\n"), strings.TrimSpace(want)})
	}
	return out
}

// eachCorpus runs check over the cases of a folder or file and compares or writes what it says.
func eachCorpus(t *testing.T, folder string, check func(t *testing.T, sql string) string) {
	t.Helper()
	root := filepath.Join("..", "sqlpolicy", "testdata", filepath.FromSlash(folder))
	files, err := filepath.Glob(filepath.Join(root, "*.txt"))
	if err == nil && len(files) == 0 {
		files = []string{root + ".txt"}
	}
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	for _, path := range files {
		var out bytes.Buffer
		for _, c := range readCorpus(t, path) {
			got := ""
			t.Run(filepath.Base(path)+"/"+c.name, func(t *testing.T) {
				if got = check(t, c.sql); !*update {
					if diff := cmp.Diff(c.want, got); diff != "" {
						t.Errorf("%s\n%s", c.sql, diff)
					}
				}
			})
			fmt.Fprintf(&out, "=== %s\n%s\n--- %s\n\n", c.name, c.sql, got)
		}
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// refusalOf gives the rule of a refusal, or fails.
func refusalOf(t *testing.T, sql string, err error) string {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != fault.SQLPolicy {
		t.Fatalf("%s\nwas not refused: %v", sql, err)
	}
	r, ok := f.Details.(sqlpolicy.Refusal)
	if !ok || r.Rule == "" || r.Instead == "" || f.Message == "" {
		t.Fatalf("%s\na refusal without reason: %+v", sql, f)
	}
	return r.Rule
}

func TestRefuse(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	eachCorpus(t, "refuse", func(t *testing.T, sql string) string {
		_, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql})
		return refusalOf(t, sql, err)
	})
}

// treeOnly is a parser whose plans are all harmless: what it refuses, the tree did.
type treeOnly struct{ query.Parser }

func (treeOnly) Plan(context.Context, string) ([]byte, error) {
	return []byte(`{"error":false,"plans":[{"type":"LOGICAL_DUMMY_SCAN"}]}`), nil
}

// planOnly is a parser whose trees are all harmless: what it refuses, the plan did.
type planOnly struct{ query.Parser }

func (p planOnly) Tree(ctx context.Context, _ string) ([]byte, error) {
	return p.Parser.Tree(ctx, "SELECT 1")
}

// The first wall alone refuses the whole corpus.
func TestRefuseByTreeAlone(t *testing.T) {
	db := shop(t)
	p := treeOnly{query.Parser{Engine: newEngine(t, query.Config{}), Database: db}}
	policy := sqlpolicy.New(sqlpolicy.Config{})
	eachCorpus(t, "refuse", func(t *testing.T, sql string) string {
		_, err := policy.Check(t.Context(), p, sqlpolicy.Scope{Alias: db.Alias, Tables: db.Tables}, sql)
		return refusalOf(t, sql, err)
	})
}

// The second wall alone lets nothing read a table that is not on the list, nor a
// file, nor the engine's own tables. What it may pass is harmless by itself: it
// computes, or cannot be planned at all.
func TestRefuseByPlanAlone(t *testing.T) {
	db := shop(t)
	p := planOnly{query.Parser{Engine: newEngine(t, query.Config{}), Database: db}}
	policy := sqlpolicy.New(sqlpolicy.Config{})
	for _, file := range []string{"tables.txt", "files.txt"} {
		for _, c := range readCorpus(t, filepath.Join("..", "sqlpolicy", "testdata", "refuse", file)) {
			t.Run(c.name, func(t *testing.T) {
				d, err := policy.Check(t.Context(), p, sqlpolicy.Scope{Tables: db.Tables}, c.sql)
				if err != nil {
					return
				}
				if plan, _ := p.Plan(t.Context(), d.SQL); bytes.Contains(plan, []byte(`"table":"hidden"`)) || bytes.Contains(plan, []byte(`read_`)) {
					t.Errorf("%s\nwas allowed: %+v", c.sql, d)
				}
			})
		}
	}
}

func TestAllow(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	eachCorpus(t, "allow", func(t *testing.T, sql string) string {
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql})
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		return described(r.Decision)
	})
}

// described says what a decision lists, in one line.
func described(d sqlpolicy.Decision) string {
	var parts []string
	for _, touch := range d.Touches {
		parts = append(parts, touch.Table+"("+strings.Join(touch.Columns, ", ")+")")
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{d.HasLimit, "limit"}, {d.HasOrder, "order"}, {d.Volatile, "volatile"}} {
		if flag.on {
			parts = append(parts, flag.name)
		}
	}
	return strings.Join(parts, " ")
}

// Every function of the engine is on one of the reviewed lists, so that an upgrade
// that brings a new one makes somebody look at it.
func TestFunctionsReviewed(t *testing.T) {
	known, err := query.Functions()
	if err != nil {
		t.Fatal(err)
	}
	if len(known) < 500 {
		t.Fatalf("the engine names only %d functions", len(known))
	}
	for _, f := range known {
		switch kind, name := f[0], f[1]; kind {
		case "scalar", "aggregate", "macro":
			if sqlpolicy.Function(name) == sqlpolicy.Unknown {
				t.Errorf("%s function %s is on no list", kind, name)
			}
		case "table", "table_macro":
			if sqlpolicy.TableFunction(name) == sqlpolicy.Unknown {
				t.Errorf("%s %s is on no list", kind, name)
			}
		case "pragma": // a statement of its own, which is never a SELECT
		default:
			t.Errorf("functions of the kind %s are new", kind)
		}
	}
}
