package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// fakeData is a shop of two tables without an engine behind it: it answers the
// statements that it was told of and keeps what it was asked.
type fakeData struct {
	mu      sync.Mutex
	version string
	answers map[string]string // part of a statement: rows
	fails   error
	asked   []toolbox.Query
	read    int  // how often the schema was read
	moves   bool // the data change as soon as a statement has run
}

func newFake() *fakeData {
	return &fakeData{version: "v1", answers: map[string]string{
		"DISTINCT status": `[["open"],["Open"],["paid"]]`, "DISTINCT name": `[["Ada"],["Ben"]]`, "DISTINCT city": `[["Bern"],["Basel"]]`,
	}}
}

func (f *fakeData) Datasets(context.Context) ([]schema.Dataset, error) {
	return []schema.Dataset{{ID: "shop", Name: "Shop", Prompts: []string{"a", "b", "c", "d"}}}, nil
}

func (f *fakeData) Schema(_ context.Context, dataset string) (schema.Dataset, error) {
	if dataset != "shop" {
		return schema.Dataset{}, fault.New(fault.NotFound, "there is no dataset %q", dataset)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read++
	return schema.Dataset{
		ID: "shop", Version: f.version,
		Tables: []schema.Table{
			{File: "orders.csv", Name: "orders", Rows: 5, Key: []string{"id"}, Columns: []schema.Column{{Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "customer_id", Type: schema.ParseType("BIGINT")}, {Name: "amount", Type: schema.ParseType("DOUBLE")}, {Name: "status", Type: schema.ParseType("VARCHAR")}}},
			{File: "customers.csv", Name: "customers", Rows: 2, Key: []string{"id"}, Columns: []schema.Column{{Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "name", Type: schema.ParseType("VARCHAR")}, {Name: "city", Type: schema.ParseType("VARCHAR")}}},
		},
		Relations: []schema.Relation{{Table: "orders", Column: "customer_id", RefTable: "customers", RefColumn: "id"}},
	}, nil
}

func (f *fakeData) Version(context.Context, string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.version
}

func (f *fakeData) Query(_ context.Context, q toolbox.Query) (toolbox.Rows, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	version := f.version
	if f.moves {
		f.version += "+"
	}
	if f.fails != nil && !strings.Contains(q.SQL, "DISTINCT") {
		return toolbox.Rows{}, f.fails
	}
	for part, rows := range f.answers {
		if !strings.Contains(q.SQL, part) {
			continue
		}
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(rows), &all); err != nil {
			return toolbox.Rows{}, err
		}
		limited := len(all) > q.MaxRows
		all = all[:min(len(all), q.MaxRows)]
		raw, err := json.Marshal(all)
		return toolbox.Rows{Columns: []schema.Column{{Name: "c", Type: schema.ParseType("VARCHAR")}}, Rows: raw, RowCount: len(all), Limited: limited, MS: 7, Version: version}, err
	}
	return toolbox.Rows{Columns: []schema.Column{{Name: "count", Type: schema.ParseType("BIGINT")}}, Rows: json.RawMessage(`[[3]]`), RowCount: 1, MS: 7, Version: version}, nil
}

func (f *fakeData) Dictionary(_ context.Context, _, file string) (schema.Dictionary, error) {
	if file == "other.json" {
		return schema.Dictionary{Glossary: map[string]string{"takings": "total amount of orders"}}, nil
	}
	return schema.Dictionary{
		Tables:   map[string]schema.TableText{"orders": {Text: "One row an order.", Columns: map[string]string{"amount": "In euro."}}},
		Glossary: map[string]string{"turnover": "total amount of orders"}, Warnings: []string{"products is described but not there"},
	}, nil
}

// Check stands for policy: what does not begin with SELECT is refused.
func (f *fakeData) Check(_ context.Context, _, sql string, _ ...toolbox.Frame) (sqlpolicy.Decision, error) {
	switch {
	case strings.Contains(sql, "broken"):
		return sqlpolicy.Decision{}, errors.New("the checker is broken")
	case !strings.HasPrefix(sql, "SELECT"):
		return sqlpolicy.Decision{}, fault.New(fault.SQLPolicy, "only SELECT may run")
	}
	d := sqlpolicy.Decision{SQL: sql, HasLimit: strings.Contains(sql, "LIMIT")}
	if _, err := fmt.Sscanf(sql, "SELECT 1 LIMIT %d", &d.Limit); err != nil || strings.Contains(sql, "+") {
		d.Limit = sqlpolicy.NoNumber
	}
	return d, nil
}

// tools lists the tools over the fake, by name.
func tools(f *fakeData) map[string]tool.Tool {
	out := map[string]tool.Tool{}
	for _, t := range toolbox.Tools(toolbox.Config{Data: f, Check: f, Knowledge: toolbox.NewKnowledge(f)}) {
		out[t.Spec().Name] = t
	}
	return out
}

// call calls a tool on the dataset shop as Ann.
func call[Out any](t *testing.T, f *fakeData, name string, args any) (Out, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var out Out
	r, err := tools(f)[name].Call(tool.With(t.Context(), tool.Call{Owner: "ann", Dataset: "shop"}), raw)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(r.JSON, &out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out, nil
}

func must[Out any](t *testing.T, f *fakeData, name string, args any) Out {
	t.Helper()
	out, err := call[Out](t, f, name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// code is the fault's code of an error.
func code(err error) fault.Code {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		return ""
	}
	return f.Code
}
