package data_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/query"
	"interlock/internal/toolbox"
)

// A file that somebody put there gets questions of its own; a declared question is shown if the
// planner answers it, or if another model is in use.
func TestStartersOfDatasets(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kiln/firings.csv", "firing_id,fired_on,glaze,pieces,gas_used\n1,2025-01-04,celadon,40,12.5\n2,2025-01-19,tenmoku,22,9.5\n3,2025-02-02,celadon,35,11\n4,2025-02-11,shino,12,7\n5,2025-03-20,tenmoku,30,10\n")
	write("pots/pots.csv", "pot_id,kind,price\n1,bowl,12\n2,mug,9\n3,bowl,14\n")
	write("pots/registry.json", `{"id":"pots","prompts":["How many pots are there per kind?","What is the churn of the potters?"],"files":[{"path":"pots.csv","table_name":"pots"}]}`)
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
	k := toolbox.NewKnowledge(data.Datasets{Catalog: found})
	prompts := func(keep bool) map[string][]string {
		served := data.ServedDatasets{Catalog: found, Starters: data.NewStarters(t.Context(), data.StartersConfig{Knowledge: k, KeepDeclared: keep})}
		out := map[string][]string{}
		for len(out["kiln"]) == 0 || len(out["pots"]) == 0 { // a slow machine tries them past the first look
			list, err := served.Datasets(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range list {
				out[d.ID] = d.Prompts
			}
		}
		return out
	}
	got := prompts(false)
	if len(got["kiln"]) < 5 || got["pots"][0] != "How many pots are there per kind?" || slices.Contains(got["pots"], "What is the churn of the potters?") {
		t.Errorf("offline: %q", got)
	}
	if got := prompts(true); len(got["kiln"]) < 5 || len(got["pots"]) != 2 {
		t.Errorf("with another model: %q", got)
	}
}
