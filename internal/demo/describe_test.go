package demo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/internal/racetest"
)

// Every table and column is described, and nothing that is not there.
func TestDictionaryFitsRegistry(t *testing.T) {
	dir := demoData(t)
	for _, id := range datasets {
		t.Run(id, func(t *testing.T) {
			var r registry
			readJSON(t, &r, dir, id, "registry.json")
			var d struct {
				Tables map[string]struct {
					Description string
					Columns     map[string]string
				}
				Glossary map[string]string
			}
			readJSON(t, &d, dir, id, "data_dictionary.json")
			if r.ID != id || r.Name == "" || len(r.Prompts) != 6 || len(d.Glossary) < 6 || len(d.Tables) != len(r.Files) {
				t.Errorf("registry %s %q with %d prompts, %d terms, %d of %d tables", r.ID, r.Name, len(r.Prompts), len(d.Glossary), len(d.Tables), len(r.Files))
			}
			for _, f := range r.Files {
				about := d.Tables[f.Table]
				if about.Description == "" || len(about.Columns) != len(f.Schema) {
					t.Errorf("table %s: %q, %d of %d columns described", f.Table, about.Description, len(about.Columns), len(f.Schema))
				}
				for _, c := range f.Schema {
					if len(about.Columns[c.Name]) < 4 {
						t.Errorf("column %s.%s: %q", f.Table, c.Name, about.Columns[c.Name])
					}
				}
			}
		})
	}
}

// What the documents promise is what the tickets were made by.
func TestDocumentsFitTickets(t *testing.T) {
	racetest.Skip(t, "computes on the whole demo")
	dir := demoData(t)
	folder := filepath.Join(dir, "support", "documents")
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) < 12 {
		t.Fatalf("%d documents, %v", len(entries), err)
	}
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	db := openSeedOne(t, "support")
	for _, row := range answer(t, db, "SELECT DISTINCT known_issue, product_version FROM tickets WHERE known_issue IS NOT NULL").Rows {
		if listed := fmt.Sprintf("<tr><td>%s</td>", row[0]); !strings.Contains(read("known-issues.html"), listed) {
			t.Errorf("%s is not among the known issues", row[0])
		}
		_, notes, _ := strings.Cut(read("release-notes.md"), fmt.Sprintf("## %s (", row[1]))
		if notes, _, _ = strings.Cut(notes, "\n## "); !strings.Contains(notes, row[0].(string)) {
			t.Errorf("the notes of release %s do not mention %s", row[1], row[0])
		}
	}
	for _, row := range answer(t, db, "SELECT product_version, min(created_at) FROM tickets WHERE product_version IS NOT NULL GROUP BY 1").Rows {
		_, after, found := strings.Cut(read("release-notes.md"), fmt.Sprintf("## %s (", row[0]))
		if !found {
			t.Errorf("release %s has no notes", row[0])
		} else if released := after[:10]; row[1].(string) < released && row[0] != "4.0" {
			t.Errorf("release %s of %s has a ticket of %s", row[0], released, row[1])
		}
	}

	// The table of targets, applied to the tickets: about as many miss as were made to.
	waited := map[string][]int64{} // seconds, by plan and priority
	for _, row := range answer(t, db, `SELECT plan, lower(priority), unixepoch(first_response_at) - unixepoch(created_at)
		FROM tickets JOIN customers USING (customer_id) WHERE first_response_at IS NOT NULL`).Rows {
		key := fmt.Sprint(row[0], " ", row[1])
		waited[key] = append(waited[key], row[2].(int64))
	}
	late, all := 0, 0
	levels := read("service-levels.md")
	for _, plan := range []string{"Starter", "Team", "Business", "Enterprise"} {
		_, line, _ := strings.Cut(levels, "| "+plan+" |")
		line, _, _ = strings.Cut(line, "\n")
		for i, priority := range []string{"urgent", "high", "normal", "low"} {
			var minutes int64
			if _, err := fmt.Sscanf(strings.Split(line, "|")[i], "%d minutes", &minutes); err != nil {
				t.Fatalf("targets of %s: %q, %v", plan, line, err)
			}
			missed, answered := 0, waited[plan+" "+priority]
			for _, seconds := range answered {
				if seconds > 60*minutes {
					missed++
				}
			}
			if missed == 0 || missed > len(answered)/3 {
				t.Errorf("%d of %d tickets of %s, %s miss their target", missed, len(answered), plan, priority)
			}
			late, all = late+missed, all+len(answered)
		}
	}
	if share := 100 * late / all; share < 8 || share > 18 {
		t.Errorf("%d %% of %d tickets miss their target", share, all)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
		if words := len(strings.Fields(read(e.Name()))); words < 150 {
			t.Errorf("%s has %d words", e.Name(), words)
		}
	}
	for _, ext := range []string{".md", ".txt", ".html"} {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, ext) }) {
			t.Errorf("no %s document", ext)
		}
	}
}
