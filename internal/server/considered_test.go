package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestConsideredMoves asks why a state was entered: the moves that were looked at are
// listed, and events that never happened are not found.
func TestConsideredMoves(t *testing.T) {
	t.Parallel()
	r := serve(t, newDesk(t, 0), nil)
	_, body := r.do(t, "POST", "/chat", `{"message":"SQL: select 1","dataset_id":"shop"}`)
	var said struct {
		Thread string `json:"thread_id"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		t.Fatal(err)
	}
	moved, stayed, missing := 0, 0, 0
	for seq := range 100 {
		res, body := r.do(t, "GET", fmt.Sprintf("/api/threads/%s/moves/%d", said.Thread, seq+1), "")
		switch {
		case res.StatusCode == 200 && strings.Contains(body, `"moves":[{`):
			moved++
		case res.StatusCode == 200 && strings.Contains(body, `"moves":[]`):
			stayed++
		case res.StatusCode == 404:
			missing++
		default:
			t.Errorf("event %d: %d %s", seq+1, res.StatusCode, body)
		}
	}
	if moved != 1 || stayed < 4 || missing < 80 {
		t.Errorf("%d events have moves that were looked at, %d have none and %d never happened", moved, stayed, missing)
	}
	if res, _ := r.do(t, "GET", "/api/threads/t_none/moves/1", ""); res.StatusCode != 404 {
		t.Errorf("a thread that does not exist: %d", res.StatusCode)
	}
}
