package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSuggestWithModel drafts with the model of the settings: one request with key, schema and
// data, its cost told, the draft printed and never put beside the data. Without a model, and
// where the model says something else, it says what to do.
func TestSuggestWithModel(t *testing.T) {
	const reply = `{"tables": [], "fields": [{"table": "orders", "column": "status", "label": "state of the order", "synonyms": [], "evidence": "its values"}], "metrics": []}`
	server := newActor(t, func(string, int) line { return line{text: reply} })
	w := newWorld(t, brief)
	if _, errs, code := w.run("meaning", "suggest", "shop", "--with-model"); code == 0 || !strings.Contains(errs, "OPENAI_API_KEY") {
		t.Errorf("without a model: %d %s", code, errs)
	}
	out, errs, code := w.run(append([]string{"meaning", "suggest", "shop", "--with-model"}, server.flags()...)...)
	if code != 0 || !strings.Contains(out, "# drafted by openai/actor: its values") || !strings.Contains(out, "label: state of the order") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	if !strings.Contains(errs, "Asking openai/actor") || !strings.Contains(errs, "tokens in") || !strings.Contains(errs, "drafted 1 labels, synonyms and metrics") {
		t.Errorf("it said %s", errs)
	}
	if all, _ := server.counts(); all != 1 {
		t.Errorf("%d requests were made", all)
	}
	for request := range server.asked {
		if !strings.Contains(request, `"json_schema"`) || !strings.Contains(request, "## orders") {
			t.Errorf("the request was %s", request)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(w.dir, "data", "shop", "meaning.*")); len(found) > 0 {
		t.Errorf("%v was written", found)
	}
	chatty := newActor(t, func(string, int) line { return line{text: "I like this data."} })
	if out, errs, code := w.run(append([]string{"meaning", "suggest", "shop", "--with-model", "-o", filepath.Join(t.TempDir(), "draft.yaml")}, chatty.flags()...)...); code == 0 || !strings.Contains(errs, "not the JSON") {
		t.Errorf("a model that sends prose: %d\n%s\n%s", code, out, errs)
	}
}
