package data_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/nlq"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

const declaredModel = `version: 0.2.0.dev0
semantic_model:
  - name: shop
    datasets:
      - {name: orders, source: orders, primary_key: [id], ai_context: {synonyms: [purchases]}}
    metrics:
      - name: takings
        expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(orders.amount) FILTER (WHERE orders.status = 'paid')}]}
`

func newMeanings(t *testing.T) (data.Meanings, string) {
	t.Helper()
	root, dir := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "shop", "orders.csv"), []byte("id,amount,status\n1,10,paid\n2,5,open\n3,7,Paid\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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
	return data.Meanings{Catalog: found}, root
}

// TestReplaceMeaning stores what passes its check, once for each version, and tools see it at once.
func TestReplaceMeaning(t *testing.T) {
	m, root := newMeanings(t)
	datasets := data.Datasets{Catalog: m.Catalog}
	before := datasets.Version(t.Context(), "shop")
	wrong := strings.Replace(declaredModel, "orders.amount", "orders.total", 1)
	_, err := m.ReplaceMeaning(t.Context(), "shop", "", "", wrong)
	if !fault.Is(err, fault.BadMeaning) || len(fault.From(err).Details.(meaning.Findings)) != 1 {
		t.Fatalf("%v", err)
	}
	if _, err := m.ReplaceMeaning(t.Context(), "shop", "", "", declaredModel); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReplaceMeaning(t.Context(), "shop", "", "", declaredModel+"\n"); !fault.Is(err, fault.Conflict) {
		t.Errorf("the text of another was overwritten: %v", err)
	}
	shown, err := m.Show(t.Context(), "shop")
	if err != nil || shown.Version == "" || shown.Text != declaredModel || len(shown.Meaning.Metrics) != 1 {
		t.Errorf("%+v, %v", shown, err)
	}
	if after := datasets.Version(t.Context(), "shop"); after == before {
		t.Error("another meaning is no other version")
	}
	tools := tool.NewSet(nil, toolbox.Tools(toolbox.Config{Data: datasets, Check: datasets, Knowledge: toolbox.NewKnowledge(datasets)})...)
	for name, want := range map[string]string{"execute_query_plan": `[[10`, "get_dataset_schema": "metric `takings`", "describe_tables": `"takings"`} {
		one, err := tools.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		args := `{"dataset_id":"shop"}`
		if name == "execute_query_plan" {
			args = `{"dataset_id":"shop","plan":{"table":"orders","select":[{"metric":"takings"}]}}`
		}
		out, err := one.Call(tool.With(t.Context(), tool.Call{Owner: "ann"}), json.RawMessage(args))
		if raw, _ := json.Marshal(out); err != nil || !strings.Contains(strings.ReplaceAll(string(raw), `\"`, `"`), want) {
			t.Errorf("%s: %s, %v, want %s", name, raw, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "shop", "meaning.yaml"), []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := datasets.Schema(t.Context(), "shop")
	if err != nil || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "meaning check shop") || len(s.Meaning.Metrics) != 0 {
		t.Errorf("a metric with an error is used or not told of: %+v, %v", s.Problems, err)
	}
}

// TestSuggestCountsOrphans holds the evidence of a relation to say how many values it does not hold for.
func TestSuggestCountsOrphans(t *testing.T) {
	m, root := newMeanings(t)
	lines := "line_id,order_id\n1,1\n2,1\n3,2\n4,3\n5,3\n6,3\n7,\n"
	orders, payments := "id,amount,status\n", "payment_id,order_id\n1,77\n"
	for i := range 19 {
		payments += fmt.Sprintf("%d,%d\n", i+2, i%10+1)
		orders += fmt.Sprintf("%d,%d,paid\n", i+1, i)
	}
	for file, text := range map[string]string{"lines.csv": lines, "orders.csv": orders, "payments.csv": payments} {
		if err := os.WriteFile(filepath.Join(root, "shop", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := m.Suggest(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"all 6 values of lines.order_id are found in orders.id", "19 of 20 values of payments.order_id are found in orders.id, 1 are not"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestSuggestPassesCheck holds the drafts of real data to their check.
func TestSuggestPassesCheck(t *testing.T) {
	m, _ := newMeanings(t)
	text, err := m.Suggest(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Check(t.Context(), "shop", "draft.yaml", text)
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v\n%s", found, err, text)
	}
	if !strings.Contains(string(text), `"ignore_case":true`) {
		t.Errorf("Paid and paid are not drafted as one:\n%s", text)
	}
}

// TestBrokenMeaningIsNamed holds errors of a semantic model to stand among the problems of the
// dataset, before and after its import, and in the reason why a word of it is declined.
func TestBrokenMeaningIsNamed(t *testing.T) {
	for name, text := range map[string]string{
		"column": strings.Replace(declaredModel, "orders.amount", "orders.amont", 1),
		"indent": strings.Replace(declaredModel, "    metrics:", "   metrics:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			m, root := newMeanings(t)
			if err := os.WriteFile(filepath.Join(root, "shop", "meaning.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			served := data.ServedDatasets{Catalog: m.Catalog}
			overview := func() string {
				list, err := served.Overview(t.Context(), "")
				raw, _ := json.Marshal(list)
				if err != nil {
					t.Fatal(err)
				}
				return string(raw)
			}
			if got := overview(); name == "indent" && !strings.Contains(got, "meaning check shop") {
				t.Errorf("before the import: %s", got)
			}
			datasets := data.Datasets{Catalog: m.Catalog}
			s, err := datasets.Schema(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			if got := overview(); strings.Count(got, "meaning check shop") != 1 {
				t.Errorf("after the import: %s", got)
			}
			if a := nlq.Plan(nlq.Question{Text: "What are the takings?", Schema: s}); !strings.Contains(a.Declined, "meaning.yaml has a problem") || !strings.Contains(a.Declined, "interlock meaning check shop") {
				t.Errorf("declined with %q", a.Declined)
			}
			if a := nlq.Plan(nlq.Question{Text: "What is the humidity?", Schema: s}); a.Declined == "" || strings.Contains(a.Declined, "meaning.yaml") {
				t.Errorf("a word that the file does not have is declined with %q", a.Declined)
			}
		})
	}
}

// TestRememberChoice writes a choice for who may, refuses readings of nothing, and forgets it again.
func TestRememberChoice(t *testing.T) {
	m, _ := newMeanings(t)
	if _, err := m.Remember(t.Context(), "shop", "", schema.Choice{Term: "when", Reading: "the weather"}); !fault.Is(err, fault.BadMeaning) {
		t.Errorf("a reading of nothing: %v", err)
	}
	if _, err := m.Remember(t.Context(), "shop", "bob", schema.Choice{Term: "money", Reading: "the amount of orders"}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("another's dataset: %v", err)
	}
	one, err := m.Remember(t.Context(), "shop", "", schema.Choice{Term: "money", Reading: "the  amount of orders"})
	if err != nil || one.Remembered == nil || one.Remembered.Reading != "the amount of orders" || len(one.Choices) != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	again, err := m.Remember(t.Context(), "shop", "", schema.Choice{Term: "money", Reading: "the amount of orders"})
	if err != nil || len(again.Choices) != 1 || again.Version != one.Version {
		t.Errorf("said twice: %+v, %v", again, err)
	}
	if none, err := m.Forget(t.Context(), "shop", "", one.Remembered.ID); err != nil || len(none.Choices) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

// TestSuggestWith asks a model once, tells it what the data is, and takes what fits: a metric is
// computed, and one that is no metric is named. No file is written.
func TestSuggestWith(t *testing.T) {
	m, root := newMeanings(t)
	calls, told := 0, ""
	out, err := m.SuggestWith(t.Context(), "shop", func(_ context.Context, system, prompt string, output []byte) (string, string, error) {
		calls++
		told = system + prompt
		if !json.Valid(output) {
			t.Errorf("the schema is no JSON: %s", output)
		}
		return `{"tables": [], "fields": [{"table": "orders", "column": "amount", "label": "order value", "synonyms": [], "evidence": "numbers from 5 to 10"}],
			"metrics": [{"name": "takings", "table": "orders", "expression": "SUM(orders.amount) FILTER (WHERE orders.status = 'paid')", "description": "", "synonyms": [], "evidence": "the status paid"},
			{"name": "nonsense", "table": "orders", "expression": "SUM(orders.status)", "description": "", "synonyms": [], "evidence": ""}]}`, "some/model", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Text)
	for _, want := range []string{
		"# drafted by some/model: numbers from 5 to 10", "label: order value",
		"# drafted by some/model: the status paid; over all rows it gives 10\n", `# Drafted by some/model and left out: the metric "nonsense"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the draft:\n%s", want, text)
		}
	}
	if calls != 1 || out.Taken != 2 || out.Left != 1 || !strings.Contains(told, "## orders (3 rows)") || !strings.Contains(told, "count(distinct)") {
		t.Errorf("%d calls, %d taken, %d left; told:\n%s", calls, out.Taken, out.Left, told)
	}
	if found, err := m.Check(t.Context(), "shop", "draft.yaml", out.Text); err != nil || len(found.Errors()) > 0 {
		t.Errorf("%v %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(root, "shop", meaning.File)); err == nil {
		t.Error("a file was written")
	}
	failed := fault.New(fault.ModelFailed, "no")
	if _, err := m.SuggestWith(t.Context(), "shop", func(context.Context, string, string, []byte) (string, string, error) { return "", "", failed }); !errors.Is(err, failed) {
		t.Errorf("the model failed: %v", err)
	}
}
