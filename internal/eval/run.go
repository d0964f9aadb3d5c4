package eval

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // runs the gold queries

	"interlock/internal/demo"
	"interlock/internal/engine"
	"interlock/internal/machine"
)

// An Answer is what became of a question in the system.
type Answer struct {
	Reply  engine.Reply
	Result Result
	SQL    string
	Asked  bool
	// Confidence is what the machine's reply says of its plan; 0 is unknown.
	Confidence float64
}

// A Runner asks questions, each in a thread of its own.
type Runner struct {
	Engine  *engine.Engine
	Machine *machine.Machine
	Owner   string
}

// Ask asks one question in a new thread.
func (r Runner) Ask(ctx context.Context, dataset, question string) (Answer, error) {
	thread, err := r.Engine.Open(ctx, engine.Opening{Machine: r.Machine.Name, Owner: r.Owner, Dataset: dataset, Settings: widestSettings(r.Machine)})
	if err != nil {
		return Answer{}, err
	}
	return r.say(ctx, thread, dataset, question)
}

// say says something in a thread and reads the reply.
func (r Runner) say(ctx context.Context, thread, dataset, text string) (Answer, error) {
	run, err := r.Engine.Send(ctx, thread, engine.Input{User: r.Owner, Text: text, Dataset: dataset})
	if err != nil {
		return Answer{}, err
	}
	if err := r.Engine.Wait(ctx, thread); err != nil {
		return Answer{}, err
	}
	a := Answer{}
	if a.Reply, err = r.Engine.Reply(ctx, run); err != nil {
		return a, err
	}
	a.Asked = a.Reply.Card != nil
	if raw := a.Reply.Fields["confidence"]; raw != nil {
		if err := json.Unmarshal(raw, &a.Confidence); err != nil {
			return a, fmt.Errorf("reading the confidence of the reply: %w", err)
		}
	}
	for _, shown := range a.Reply.Shown {
		if table, sql, ok := tableIn(shown.Output); ok {
			a.Result, a.SQL = table, sql
		}
	}
	return a, nil
}

// widestSettings lifts the machine's row limits as far as they go: whole results are compared.
func widestSettings(m *machine.Machine) map[string]any {
	out := map[string]any{}
	for _, s := range m.Settings {
		if strings.HasSuffix(s.Name, "_rows") && s.Max != nil {
			out[s.Name] = *s.Max
		}
	}
	return out
}

// tableIn finds the table in a result that the person sees.
func tableIn(raw json.RawMessage) (Result, string, bool) {
	var r struct {
		Columns []string        `json:"columns"`
		Rows    [][]any         `json:"rows"`
		Query   string          `json:"query"`
		SQL     string          `json:"compiled_sql"`
		Result  json.RawMessage `json:"result"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return Result{}, "", false
	}
	if r.Columns == nil && r.Result != nil {
		return tableIn(r.Result)
	}
	return Result{Columns: r.Columns, Rows: r.Rows}, r.Query + r.SQL, r.Columns != nil
}

// Score asks a case and compares the answer with the gold query's rows.
func (r Runner) Score(ctx context.Context, dir string, c Case) Record {
	start := time.Now()
	a, err := r.Ask(ctx, c.DB, c.Question)
	rec := Record{Case: c, Confidence: a.Confidence, SQL: a.SQL, Elapsed: time.Since(start)}
	switch {
	case err != nil:
		rec.Outcome, rec.Note = Wrong, err.Error()
		return rec
	case a.Asked:
		rec.Outcome, rec.Note = Asked, fmt.Sprint(a.Reply.Card.Content.Decode())
		return rec
	case a.SQL == "" && a.Result.Columns == nil:
		rec.Outcome, rec.Note = Declined, a.Reply.Text
		return rec
	}
	gold, err := goldRows(ctx, c.Database(dir), c.GoldSQL)
	if err != nil {
		rec.Outcome, rec.Note = Wrong, "the gold query failed: "+err.Error()
		return rec
	}
	rec.Outcome = Wrong
	if raw := a.Reply.Fields["satisfaction"]; raw != nil {
		rec.Note = "judged " + strings.Trim(string(raw), `"`)
	}
	if Same(gold, a.Result, Ordered(c.GoldSQL)) {
		rec.Outcome = Right
	}
	return rec
}

// goldRows runs a gold query on its SQLite database.
func goldRows(ctx context.Context, path, text string) (Result, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return Result{}, err
	}
	defer db.Close()
	return runGold(ctx, db, text)
}

// runGold runs a statement and reads all of its rows.
func runGold(ctx context.Context, db *sql.DB, text string) (Result, error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return Result{}, err
	}
	defer rows.Close()
	var r Result
	if r.Columns, err = rows.Columns(); err != nil {
		return r, err
	}
	for rows.Next() {
		row := make([]any, len(r.Columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return r, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r, rows.Err()
}

// ReadGolden reads the golden queries that lie beside a dataset's files.
func ReadGolden(roots []string, dataset string) ([]demo.Golden, error) {
	for _, root := range roots {
		raw, err := os.ReadFile(filepath.Join(root, dataset, "golden.json"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var list []demo.Golden
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("reading the golden queries of %s: %w", dataset, err)
		}
		return list, nil
	}
	return nil, nil
}

// JudgeGolden holds an answer against what is known: status, row count, columns and,
// where given, values. Names of columns may differ; their number may not.
func JudgeGolden(c demo.Check, a Answer) (outcome, note string) {
	switch {
	case c.Status != "" && a.Reply.Outcome != c.Status:
		return "wrong", fmt.Sprintf("status %s, not %s", a.Reply.Outcome, c.Status)
	case len(c.Columns) != len(a.Result.Columns):
		return "wrong", fmt.Sprintf("columns %v, not %v", a.Result.Columns, c.Columns)
	case c.RowCount != nil && len(a.Result.Rows) != *c.RowCount:
		return "wrong", fmt.Sprintf("%d rows, not %d", len(a.Result.Rows), *c.RowCount)
	case c.Values != nil && !Same(Result{Columns: c.Columns, Rows: c.Values}, a.Result, false):
		return "wrong", "values " + truncate(fmt.Sprint(a.Result.Rows), 120)
	}
	return "right", ""
}

// truncate shortens a text to so many characters.
func truncate(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
