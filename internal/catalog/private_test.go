package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/source"
)

// privateWorld has its state inside its data folder, with a password and a log in it.
func privateWorld(t *testing.T) (w *world, state string) {
	t.Helper()
	w = newWorld(t, shop)
	state = filepath.Join(w.root, "state")
	for name, text := range map[string]string{
		"secrets.json": `{"shop": "hunter2"}`, "log.csv": "who,what\nann,hunter2\n",
		"artifacts/a.csv": "a\nhunter2\n", "results/data.csv": "a\nhunter2\n",
	} {
		w.write(t, "state/"+name, text)
	}
	config := w.config
	config.State, config.Dir = state, filepath.Join(state, "datasets")
	c, err := catalog.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	w.Catalog = c
	return w, state
}

// noSecret fails if any table of any dataset holds what lies in the state.
func noSecret(t *testing.T, w *world) {
	t.Helper()
	list, err := w.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.ID == "state" {
			t.Error("the state is a dataset")
		}
		if len(d.Tables) == 0 {
			continue
		}
		shown, err := w.Describe(t.Context(), d.ID)
		if err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
		for _, table := range shown.Tables {
			if got := w.rows(t, d.ID, "SELECT * FROM "+table.Name); strings.Contains(got, "hunter2") {
				t.Errorf("dataset %s, table %s (%s): %s", d.ID, table.Name, table.File, got)
			}
		}
	}
}

// The state is never read as data, by whatever way a data folder leads there.
func TestStateIsNoDataset(t *testing.T) {
	w, state := privateWorld(t)
	links := map[string]string{
		"shop/link.csv":        filepath.Join(state, "log.csv"),
		"shop/relative.csv":    "../state/log.csv",
		"shop/chain.csv":       "link.csv",
		"shop/proc.csv":        "/proc/self/root" + filepath.Join(state, "log.csv"),
		"shop/parts":           filepath.Join(state, "artifacts"),
		"folder":               state,
		"deeper":               filepath.Join(state, "artifacts"),
		"alone.csv":            filepath.Join(state, "log.csv"),
		"listed/registry.json": filepath.Join(state, "secrets.json"),
	}
	w.write(t, "listed/a.csv", "a\n1\n")
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(w.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(state, "artifacts", "a.csv"), filepath.Join(w.root, "shop", "harder.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(state, "log.csv"), filepath.Join(w.root, "shop", "hard.csv")); err != nil {
		t.Fatal(err)
	}
	w.write(t, "pattern/registry.yaml", "datasets:\n- id: pattern\n  files: [{path: '../state/*.csv'}, {path: 'l/*.csv', table_name: l}, {path: ok.csv}]\n")
	w.write(t, "pattern/ok.csv", "a\n1\n")
	if err := os.Symlink(filepath.Join(state, "artifacts"), filepath.Join(w.root, "pattern", "l")); err != nil {
		t.Fatal(err)
	}
	noSecret(t, w)
}

// A data folder that lies in the state is not read.
func TestDataInsideOfState(t *testing.T) {
	w, state := privateWorld(t)
	for _, root := range []string{state, filepath.Join(state, "artifacts"), filepath.Join(state, "log.csv")} {
		config := w.config
		config.Roots, config.State, config.Dir = []string{root}, state, filepath.Join(state, "datasets")
		c, err := catalog.New(config)
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.List(t.Context())
		if err != nil || len(list) != 1 || len(list[0].Tables) > 0 || len(list[0].Problems) != 1 {
			t.Errorf("%s: %+v %v", root, list, err)
		}
		c.Close()
	}
}

// The state is never a source, and no upload lands there.
func TestStateIsNoSource(t *testing.T) {
	w, state := privateWorld(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(state, link); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		state, filepath.Join(state, "secrets.json"), filepath.Join(w.root, "shop", "..", "state", "secrets.json"),
		"file://" + filepath.Join(state, "secrets.json"), "sqlite:" + filepath.Join(state, "log.db"), "sqlite://" + filepath.Join(state, "log.db"),
		"sqlite3:" + filepath.Join(link, "log.db"), link, filepath.Join(link, "log.csv"), "/proc/self/root" + filepath.Join(state, "log.csv"),
	} {
		wantCode(t, w.Add(t.Context(), catalog.Connection{Alias: "stolen", URL: address}, source.Secret{}), fault.Forbidden)
		wantCode(t, w.CheckServed(address), fault.Forbidden)
	}
	_, err := w.Upload(t.Context(), catalog.Upload{Dataset: "state", Name: "x.csv", Create: true}, strings.NewReader("a\n1\n"))
	wantCode(t, err, fault.DatasetNotFound)
	w.write(t, "state/sources.yaml", "sources:\n- {alias: stolen, url: "+filepath.Join(state, "log.csv")+"}\n")
	noSecret(t, w)
}

// Over the network only paths below the data folders and the allowed ones are
// sources; what is elsewhere is not even said to exist.
func TestServedSources(t *testing.T) {
	w := newWorld(t, shop)
	allowed, other := t.TempDir(), t.TempDir()
	config := w.config
	config.SourceFolders = []string{allowed}
	c, err := catalog.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.Symlink(other, filepath.Join(w.root, "out")); err != nil {
		t.Fatal(err)
	}
	for address, ok := range map[string]bool{
		filepath.Join(w.root, "shop"):               true,
		"sqlite:" + filepath.Join(allowed, "a.db"):  true,
		filepath.Join(allowed, "x", "a.csv"):        true,
		"postgres://db.example/shop":                true,
		other:                                       false,
		filepath.Join(other, "missing.csv"):         false,
		filepath.Join(w.root, "out"):                false,
		filepath.Join(w.root, "out", "missing.csv"): false,
		filepath.Join(w.root, "..", "elsewhere"):    false,
		"sqlite:" + filepath.Join(other, "a.db"):    false,
		"/etc/passwd":                               false,
		"file:///etc/passwd":                        false,
	} {
		if err := c.CheckServed(address); (err == nil) != ok || err != nil && (!fault.Is(err, fault.Forbidden) || strings.Contains(err.Error(), other)) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
