package recon

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/schema"
)

func TestMain(m *testing.M) {
	jail.Main()
	query.Main()
	os.Exit(m.Run())
}

// copyTable writes a table of a test's space as an input of a confined one: text and
// whole numbers, as the generators make.
func copyTable(t *testing.T, s *memorySpace, table string) query.Input {
	t.Helper()
	described, err := s.Query(t.Context(), "SELECT * FROM "+name(table)+" LIMIT 0")
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Query(t.Context(), "SELECT * FROM "+name(table))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	d := json.NewDecoder(bytes.NewReader(res.Rows))
	d.UseNumber()
	if err := d.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	return query.Input{Name: table, Write: func(_ context.Context, w *query.Writer, table string) error {
		specs := make([]schema.Column, len(described.Columns))
		for i, c := range described.Columns {
			if specs[i] = (schema.Column{Name: c.Name, Type: schema.Type{Kind: schema.Text}}); c.Type.Kind == schema.Int {
				specs[i].Type.Kind = schema.Int
			}
		}
		a, err := w.Table(table, specs)
		if err != nil {
			return err
		}
		for _, row := range rows {
			for i, cell := range row {
				switch v := cell.(type) {
				case json.Number:
					if specs[i].Type.Kind == schema.Int {
						n, _ := v.Int64()
						a.Int(i, n)
					} else {
						a.String(i, v.String())
					}
				case string:
					a.String(i, v)
				}
			}
			if err := a.EndRow(); err != nil {
				return err
			}
		}
		return nil
	}}
}

// In the engine's confined worker a reconciliation gives the same recipe and the same
// tables, byte for byte, as in a process of its own.
func TestConfinedWorkspace(t *testing.T) {
	plain := newSpace(t)
	in := plain.smallTables(t)
	e, err := query.New(query.Config{Dir: t.TempDir(), MemoryMB: 512})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	confined, err := e.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: []query.Input{copyTable(t, plain, "l"), copyTable(t, plain, "r")}})
	if err != nil {
		t.Fatal(err)
	}
	defer confined.Close()
	tables := map[string][]string{}
	for name, space := range map[string]Workspace{"plain": plain, "confined": confined} {
		r, err := New(Config{Workspace: space})
		if err != nil {
			t.Fatal(err)
		}
		lesson, err := r.Learn(t.Context(), in)
		if err != nil {
			t.Fatal(name, err)
		}
		outcome, err := r.Run(t.Context(), in, lesson.Recipe)
		if err != nil {
			t.Fatal(name, err)
		}
		counted, _ := json.Marshal(outcome)
		texts := []string{string(lesson.Recipe.Encode()), string(counted)}
		for _, table := range []string{MatchTable, UnmatchedTable, ConflictTable} {
			res, err := space.Query(t.Context(), "SELECT CAST(t AS VARCHAR) FROM "+table+" AS t ORDER BY 1")
			if err != nil {
				t.Fatal(name, err)
			}
			texts = append(texts, string(res.Rows))
		}
		tables[name] = texts
	}
	for i, want := range tables["plain"] {
		if got := tables["confined"][i]; got != want || !strings.ContainsAny(got, "0123456789") {
			t.Errorf("part %d differs:\n%.2000s\n%.2000s", i, got, want)
		}
	}
}
