package meaning_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/meaning"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/queryplantest"
	"interlock/internal/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shop is the dataset that the test files are about, without a meaning.
func shop() schema.Dataset {
	d := queryplantest.Shop
	d.ID, d.Meaning = "shop", nil
	return d
}

// TestCheck compares the findings of each file, and what of it is used, with the golden file.
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, found := meaning.Read(filepath.Base(file), text)
			got := ""
			if doc != nil {
				checked, more := meaning.Check(doc, shop())
				found = append(found, more...)
				raw, err := json.MarshalIndent(checked, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				got = string(raw) + "\n" + checked.Meaning.Text()
			}
			compareGolden(t, file+".golden", found.Error()+"\n"+got)
		})
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

func TestApply(t *testing.T) {
	text, err := os.ReadFile("testdata/check/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, found := meaning.Read("good.yaml", text)
	if len(found) > 0 {
		t.Fatal(found)
	}
	bare := shop()
	bare.Relations = nil
	checked, found := meaning.Check(doc, bare)
	if len(found) > 0 {
		t.Fatal(found)
	}
	d := checked.Apply(bare)
	plan := queryplan.Plan{Table: "orders", Joins: []queryplan.Join{{Table: "customers"}}, Select: []queryplan.Expr{queryplan.Col("city"), {Metric: "Net Revenue"}}, GroupBy: []queryplan.Term{queryplan.By("city")}}
	sql, err := plan.SQL(d)
	if err != nil {
		t.Fatal(err)
	}
	if want := "sum(orders.amount - orders.cost) FILTER (WHERE orders.status = 'paid') AS \"net revenue\""; !strings.Contains(sql, want) {
		t.Errorf("%s\nhas no %s", sql, want)
	}
	if len(bare.Relations) != 0 || bare.Meaning != nil {
		t.Error("Apply changed the dataset that it was given")
	}
}

// TestLargeFiles holds texts that cost a parser more than their length to be refused before it.
func TestLargeFiles(t *testing.T) {
	for _, text := range []string{strings.Repeat("\"", 900_000), strings.Repeat("k: v\n", 200_000), "[" + strings.Repeat("a,", 400_000) + "]", strings.Repeat("[", 500_000), strings.Repeat("x", 2<<20)} {
		doc, found := meaning.Read("large.yaml", []byte(text))
		if doc != nil || len(found) != 1 || found[0].Code != "too-large" {
			t.Errorf("%.10q: %v", text, found)
		}
	}
}

// TestLongPaths holds what is allocated to the length of the text: values under long keys had
// each a copy of them.
func TestLongPaths(t *testing.T) {
	zeros := "[" + strings.Repeat("0,", 45_000) + "0]"
	key := strings.Repeat("A", 190)
	flow, block, lists := zeros, "", ""
	for i := range 40 {
		flow = `{"` + key + `": ` + flow + "}"
		block += strings.Repeat(" ", i) + key + ":\n"
		lists += strings.Repeat(" ", 2*i) + "- " + key + ":\n"
	}
	for name, text := range map[string]string{
		"one key":    `{"version":"0.2.0.dev0","` + strings.Repeat("A", 500_000) + `":` + zeros + "}",
		"plain key":  strings.Repeat("A", 500_000) + ": " + zeros,
		"asked key":  "? " + strings.Repeat("A", 500_000) + "\n: " + zeros,
		"flow keys":  flow,
		"block keys": block + strings.Repeat(" ", 40) + zeros,
		"lists":      lists + strings.Repeat(" ", 80) + zeros,
		"entries":    block + strings.Repeat(strings.Repeat(" ", 39)+"- 0\n", 20_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc, found := meaning.Read("long.yaml", []byte(text))
		runtime.ReadMemStats(&after)
		if doc != nil || len(found) != 1 || found[0].Code != "too-large" {
			t.Errorf("%s: %.500v", name, found)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 128 {
			t.Errorf("%s: %d bytes took %d MB", name, len(text), mb)
		} else {
			t.Logf("%s: %d bytes took %d MB", name, len(text), mb)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/check/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"version": "0.2.0.dev0", "semantic_model": []}`)
	f.Add("[" + strings.Repeat("[", 500))
	f.Fuzz(func(t *testing.T, text string) {
		doc, found := meaning.Read("fuzz.yaml", []byte(text))
		if (doc == nil) != (len(found) > 0) {
			t.Fatalf("a document %v with findings %v", doc, found)
		}
		if doc != nil {
			checked, _ := meaning.Check(doc, shop())
			for _, m := range checked.Meaning.Metrics { // what passed the check compiles
				plan := queryplan.Plan{Table: m.Table, Select: []queryplan.Expr{{Metric: m.Name}}}
				d := checked.Apply(shop())
				for _, table := range d.Tables {
					if table.Name != m.Table && (strings.Contains(m.Expression, table.Name+".") || strings.Contains(m.Expression, `"`+table.Name+`".`)) {
						plan.Joins = append(plan.Joins, queryplan.Join{Table: table.Name})
					}
				}
				for _, p := range plan.Validate(d) {
					t.Errorf("the metric %q: %s", m.Expression, p.Message)
				}
			}
		}
	})
}
