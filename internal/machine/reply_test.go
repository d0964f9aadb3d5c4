package machine_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/machine"
)

// The reply to an empty turn has every key, with the defaults of facts and settings;
// `event.error` says why a turn did not come to its end.
func TestEmptyReply(t *testing.T) {
	m, err := machine.Load(fstest.MapFS{"machine.yaml": {Data: []byte(`
name: desk
settings: {most: {type: int, default: 7, label: Most}}
facts:
  rows: {type: list(json), for: turn}
  mode: {enum: [chat, sql], for: turn, default: chat}
start: talking
states: {talking: {kind: agent, terminal: true, tools: [look]}}
reply:
  result:  '{rows: rows ?? [], error: event.error}'
  details: '{mode: mode, most: settings.most, about: turn.dataset}'
`)}})
	if err != nil {
		t.Fatal(err)
	}
	failure := map[string]any{"type": "too_large", "message": "no"}
	for _, tt := range []struct{ given, want any }{{map[string]any(nil), nil}, {failure, failure}} {
		want := map[string]any{
			"result":  map[string]any{"rows": []any{}, "error": tt.want},
			"details": map[string]any{"mode": "chat", "most": 7.0, "about": nil},
		}
		if diff := cmp.Diff(want, m.EmptyReply(tt.given.(map[string]any))); diff != "" {
			t.Error(diff)
		}
	}
}
