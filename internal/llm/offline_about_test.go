package llm_test

import (
	"strings"
	"testing"

	"interlock/internal/llm"
)

// Who says hello or asks what there is gets an answer: the schema is read, and then told.
func TestOfflineSpeaksAboutTheData(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"hello": "for example", "What tables do you have?": "these tables", "help": "queries", "Welche Tabellen gibt es?": "diese Tabellen"} {
		first := turn(t, shopShelf(), nil, user(text))
		if len(first.Calls) != 1 || first.Calls[0].Name != "get_dataset_schema" {
			t.Errorf("%q: %+v does not read the schema", text, first)
		}
		r := turn(t, shopShelf(), nil, user(text), result("get_dataset_schema", "{}", false))
		if !strings.Contains(r.Text, want) || r.Stop == llm.StopRefusal || len(r.Calls) > 0 {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if r := turn(t, shopShelf(), nil, user("danke!")); !strings.Contains(r.Text, "Gern") || len(r.Calls) > 0 {
		t.Errorf("thanks: %+v", r)
	}
	if r := turn(t, twoShops(), nil, asked("what can I ask?", "")); !strings.Contains(r.Text, "these datasets") {
		t.Errorf("of several datasets: %+v", r)
	}
}
