package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/event"
)

// TestNoTextIsAReference holds that a value which somebody wrote in the form of a reference is
// stored as a blob, and never read back as a reference to one.
func TestNoTextIsAReference(t *testing.T) {
	for _, text := range []string{`{"$blob":"x"}`, ` { "$blob" : 1 }`, `{"$blob":null,"a":2}`, `{"$blob":"` + strings.Repeat("0", 64) + `"}`} {
		v := event.NewValue(json.RawMessage(text))
		stored, err := event.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back event.Value
		if err := json.Unmarshal(stored, &back); err != nil || back.Hash == "" || back.Hash != event.Hash(v.JSON) {
			t.Errorf("%s is stored as %s and read back as %+v, %v", text, stored, back, err)
		}
	}
	if v := event.NewValue(json.RawMessage(`{"\u0024blob":"x"}`)); v.Hash != "" {
		t.Errorf("an escaped name needs no blob: %+v", v)
	}
}
