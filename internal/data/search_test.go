package data_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/embed"
	"interlock/internal/query"
	"interlock/internal/retrieve"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// A searchDesk has datasets in root and an index that compares words.
type searchDesk struct {
	t     *testing.T
	root  string
	index *retrieve.Index
	tools *tool.Set
}

func newSearchDesk(t *testing.T) *searchDesk {
	t.Helper()
	root, dir := t.TempDir(), t.TempDir()
	engine, err := query.New(query.Config{Dir: filepath.Join(dir, "tmp"), MemoryMB: 512})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	found, err := catalog.New(catalog.Config{Roots: []string{root}, Dir: dir, Engine: engine, Policy: engine, Rescan: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = found.Close() })
	index, err := retrieve.Open(retrieve.Config{Path: filepath.Join(dir, "documents.db"), Encoder: embed.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = index.Close() })
	search := data.NewSearch(data.SearchConfig{Catalog: found, Index: index})
	return &searchDesk{t, root, index, tool.NewSet(nil, toolbox.Tools(toolbox.Config{Data: data.Datasets{Catalog: found}, Documents: search, Tables: search, PromptTables: 3})...)}
}

func (d *searchDesk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *searchDesk) call(c tool.Call, name string, args any, into any) {
	d.t.Helper()
	found, err := d.tools.Get(name)
	if err != nil {
		d.t.Fatal(err)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	result, err := found.Call(tool.With(d.t.Context(), c), raw)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(result.JSON, into); err != nil {
		d.t.Fatal(err)
	}
}

// tables gives the tables found for a question as source.table, the most relevant first.
func (d *searchDesk) tables(c tool.Call, question string) (names []string, out toolbox.SchemaSearchOut) {
	d.t.Helper()
	d.call(c, "schema_search", toolbox.SchemaSearchIn{Query: question, Min: 0.01, Limit: 5}, &out)
	for _, t := range out.Tables {
		names = append(names, t.SourceID+"."+t.FullyQualifiedName)
	}
	return names, out
}

// TestTableSearchFollowsTheCatalog finds tables by name, column, description, glossary and value, and
// follows datasets that come, change and go.
func TestTableSearchFollowsTheCatalog(t *testing.T) {
	d := newSearchDesk(t)
	d.write("shop/orders.csv", "order_id,amount,carrier\n1,9.50,Hermes\n2,3.00,Posti\n")
	d.write("shop/customers.csv", "customer_id,city\n1,Tampere\n")
	d.write("shop/data_dictionary.json", `{"tables": {"customers": {"description": "People who bought something"}}, "glossary": {"turnover": "the sum of amount of all orders"}}`)
	d.write("fleet/vessels.csv", "vessel_id,berth\n1,North\n")
	for question, want := range map[string]string{
		"Which carrier is used most?":       "shop.orders",
		"How much turnover did we make?":    "shop.orders",
		"What went with Hermes?":            "shop.orders",
		"How many people bought something?": "shop.customers",
		"Which berth is free?":              "fleet.vessels",
	} {
		names, out := d.tables(tool.Call{}, question)
		if len(names) == 0 || names[0] != want {
			t.Errorf("%s: found %q, want %s first", question, names, want)
			continue
		}
		if first := out.Tables[0]; out.MaxRelevancy != first.Relevancy || first.SQLDialect != "duckdb" || len(first.Columns) == 0 || out.Note == "" {
			t.Errorf("%s: found %+v", question, out)
		}
	}
	if names, _ := d.tables(tool.Call{Dataset: "fleet"}, "Which carrier is used most?"); slices.Contains(names, "shop.orders") {
		t.Errorf("a question about the dataset fleet found %q", names)
	}
	d.write("fleet/harbours.csv", "harbour,depth\nOulu,9\n")
	if err := os.RemoveAll(filepath.Join(d.root, "shop")); err != nil {
		t.Fatal(err)
	}
	if names, _ := d.tables(tool.Call{}, "depth of the harbour of the carrier"); len(names) == 0 || names[0] != "fleet.harbours" || slices.Contains(names, "shop.orders") {
		t.Errorf("after the change: found %q", names)
	}
}

// TestFollowUpsAreAboutTheQuestionBefore: a message that goes on from a question finds what that is about; another
// question does not.
func TestFollowUpsAreAboutTheQuestionBefore(t *testing.T) {
	d := newSearchDesk(t)
	d.write("shop/orders.csv", "order_id,amount,carrier\n1,9.50,Hermes\n2,3.00,Posti\n")
	path := filepath.Join(t.TempDir(), "berths.md")
	if err := os.WriteFile(path, []byte("# Berths\n\nA berth costs 40 euros a night."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.index.Add(t.Context(), retrieve.AddRequest{Collection: "harbour", Path: path}); err != nil {
		t.Fatal(err)
	}
	const tables, passages = "Which carrier has the most orders?", "What does a berth cost a night?"
	for _, c := range []struct {
		text, asked string
		found       bool
	}{
		{"and only in 2025?", "", true},
		{"und nur 2025?", "", true},
		{"Who wrote Hamlet?", "Who wrote Hamlet?", false},
	} {
		var schema toolbox.SchemaSearchOut
		d.call(tool.Call{}, "schema_search", toolbox.SchemaSearchIn{Query: c.text, Before: tables, Min: 0.2, Limit: 5}, &schema)
		if want := cmp.Or(c.asked, tables); len(schema.Tables) > 0 != c.found || schema.Asked != want {
			t.Errorf("%q found %+v after %q, asked %q", c.text, schema.Tables, tables, schema.Asked)
		}
		var documents toolbox.DocumentSearchOut
		d.call(tool.Call{}, "document_search", toolbox.DocumentSearchIn{Query: c.text, Before: passages, Min: 0.2, Limit: 5}, &documents)
		if want := cmp.Or(c.asked, passages); len(documents.Chunks) > 0 != c.found || documents.Asked != want {
			t.Errorf("%q found %+v after %q, asked %q", c.text, documents.Chunks, passages, documents.Asked)
		}
	}
}

// TestSeveralQuestionsAreSearchedApart: what a text asks beside another thing is found as if it were asked alone, and a passage
// tells which of the questions it is about.
func TestSeveralQuestionsAreSearchedApart(t *testing.T) {
	d := newSearchDesk(t)
	d.write("shop/orders.csv", "order_id,amount,carrier\n1,9.50,Hermes\n2,3.00,Posti\n")
	path := filepath.Join(t.TempDir(), "berths.md")
	if err := os.WriteFile(path, []byte("# Berths\n\nA berth costs 40 euros a night."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.index.Add(t.Context(), retrieve.AddRequest{Collection: "harbour", Path: path}); err != nil {
		t.Fatal(err)
	}
	const passages = "what does a berth cost a night?"
	relevancy := func(query string) (table, passage float64, question string) {
		var schema toolbox.SchemaSearchOut
		d.call(tool.Call{}, "schema_search", toolbox.SchemaSearchIn{Query: query, Limit: 5}, &schema)
		var documents toolbox.DocumentSearchOut
		d.call(tool.Call{}, "document_search", toolbox.DocumentSearchIn{Query: query, Limit: 5}, &documents)
		return schema.MaxRelevancy, documents.MaxRelevancy, documents.Chunks[0].Question
	}
	tableAlone, _, _ := relevancy("Which carrier has the most orders?")
	_, passageAlone, about := relevancy(passages)
	table, passage, aboutBoth := relevancy("Which carrier has the most orders, and " + passages)
	if table < tableAlone || passage < passageAlone || about != "" || aboutBoth != passages {
		t.Errorf("together %.3f and %.3f about %q, alone %.3f and %.3f about %q", table, passage, aboutBoth, tableAlone, passageAlone, about)
	}
}

// TestFoundTablesTellHowTheyWereRead: a found table comes with what its import decided.
func TestFoundTablesTellHowTheyWereRead(t *testing.T) {
	d := newSearchDesk(t)
	d.write("shop/orders.csv", "id,ordered\n1,13/02/2025\n2,14/02/2025\n")
	_, out := d.tables(tool.Call{}, "orders")
	if len(out.Tables) != 1 || !strings.Contains(strings.Join(out.Tables[0].Notes, "\n"), "ordered") {
		t.Errorf("found %+v, want a note about the dates", out.Tables)
	}
}

// TestDocumentSearchKnowsOwnerAndThread asks as two people and in two threads.
func TestDocumentSearchKnowsOwnerAndThread(t *testing.T) {
	d := newSearchDesk(t)
	for _, q := range []retrieve.AddRequest{{Collection: "house"}, {Owner: "ann", Collection: "own"}, {Owner: "ann", Thread: "t1"}} {
		q.Path = t.TempDir()
		name := q.Owner + q.Collection + q.Thread + ".md"
		if err := os.WriteFile(filepath.Join(q.Path, name), []byte("# Pumps\n\nThe pump is reset by the red button."), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.index.Add(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		call tool.Call
		want []string
	}{
		{tool.Call{Owner: "ann", Thread: "t1"}, []string{"annown.md", "annt1.md", "house.md"}},
		{tool.Call{Owner: "ann", Thread: "t2"}, []string{"annown.md", "house.md"}},
		{tool.Call{Owner: "bob", Thread: "t1"}, []string{"house.md"}},
	} {
		var out toolbox.DocumentSearchOut
		d.call(c.call, "document_search", toolbox.DocumentSearchIn{Query: "How is the pump reset?", Limit: 5}, &out)
		var got []string
		for _, chunk := range out.Chunks {
			got = append(got, chunk.SourceFile)
			if chunk.Place != "Pumps" || chunk.Document == "" || chunk.Relevancy > out.MaxRelevancy {
				t.Errorf("chunk %+v", chunk)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%+v found %q, want %q", c.call, got, c.want)
		}
		var above toolbox.DocumentSearchOut
		d.call(c.call, "document_search", toolbox.DocumentSearchIn{Query: "How is the pump reset?", Min: 1.01, Limit: 5}, &above)
		if len(above.Chunks) != 0 || above.MaxRelevancy != out.MaxRelevancy {
			t.Errorf("above 1: %+v", above)
		}
	}
}

// TestLargeDatasetsFitThePrompt shows the tables that a question is about where a dataset has more than a
// model reads: to the analyst by the question or its own words, to the pipeline by the question.
func TestLargeDatasetsFitThePrompt(t *testing.T) {
	d := newSearchDesk(t)
	for i := range 12 {
		d.write(fmt.Sprintf("yard/part_%02d.csv", i), "number,weight\n1,2\n")
	}
	d.write("yard/vessels.csv", "vessel,berth\nAino,7\n")
	d.write("yard/harbours.csv", "harbour,depth\nOulu,9\n")
	asked := tool.Call{Question: "Which berth does a vessel have?"}
	var shown toolbox.SchemaOut
	d.call(asked, "get_dataset_schema", map[string]any{"dataset_id": "yard"}, &shown)
	if len(shown.Tables) != 3 || shown.Tables[0].TableName != "vessels" || !strings.Contains(shown.Note, "has 14 tables") || !shown.Varies() {
		t.Errorf("by the question: %+v", shown)
	}
	shown = toolbox.SchemaOut{}
	d.call(asked, "get_dataset_schema", map[string]any{"dataset_id": "yard", "about": "depth of the harbour"}, &shown)
	if len(shown.Tables) != 3 || shown.Tables[0].TableName != "harbours" {
		t.Errorf("by the model's words: %+v", shown)
	}
	var described toolbox.DescribeTablesOut
	d.call(asked, "describe_tables", map[string]any{"dataset_id": "yard"}, &described)
	if text := string(described.Schema); !strings.Contains(text, "vessels") || !strings.Contains(text, "has 14 tables") || strings.Count(text, `"table_name"`) != 3 {
		t.Errorf("for the pipeline: %s", text)
	}
}
